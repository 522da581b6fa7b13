/**
 * Which card a decision from GitHub is about: the one it names by the beginning of its content hash, or, naming none,
 * the one that was shown before the words were written, if it is the only one that ever was. Nothing else is guessed. [GHR-40] to [GHR-46] [GHR-91]
 */
import { limits } from "../../limits.ts";
import type { Happening } from "./shapes.ts";

export type GithubDecision = Extract<Happening, { kind: "decision" }>;
export interface PendingCard {
  readonly id: string;
  readonly content_hash: string;
}
/** What the comment and the check showed last, and since when. */
export interface Showed {
  readonly content_hash: string;
  readonly at: string;
}
export type Picked<T> = { readonly card: T } | { readonly refused: string };

/**
 * A no may begin with a word that only looks like a hash, such as a commit's: where one card waits and no card of the
 * thread, of now or of before, begins so, it belongs to the reason.
 */
export function asMeant(
  said: GithubDecision,
  cards: readonly { readonly content_hash: string; readonly status: string }[],
): GithubDecision {
  const { what, via, hash, reason } = said;
  if (what !== "deny" || via !== "comment" || hash === null) return said;
  if (cards.filter(({ status }) => status === "pending").length !== 1) return said;
  if (cards.some(({ content_hash }) => content_hash.startsWith(hash))) return said;
  const words = reason === null ? hash : `${hash} ${reason}`;
  return { ...said, hash: null, reason: words.slice(0, limits.github_reason_chars).toWellFormed() };
}

export function pickCard<T extends PendingCard>(
  said: Pick<GithubDecision, "what" | "hash" | "via" | "said_at">,
  cards: readonly T[],
  showed: Showed | null,
  /** Content hashes of the task's plans that may have been read on GitHub; null where nobody knows. */
  offered: readonly string[] | null,
): Picked<T> {
  if (cards.length === 0) return { refused: "nothing waits for a decision" };
  const { hash, via } = said;
  if (hash !== null) {
    if (hash.length < limits.github_hash_chars)
      return { refused: `name the first ${limits.github_hash_chars} signs of the hash at least` };
    const named = cards.filter(({ content_hash }) => content_hash.startsWith(hash));
    if (named.length === 1 && named[0] !== undefined) return { card: named[0] };
    return { refused: "what waits has changed since: read it again, then decide with the hash that stands here now" };
  }
  if (via === "button") return { refused: "this button names no card: use the one that stands here now" };
  const shown = cards.find(({ content_hash }) => content_hash === showed?.content_hash);
  // GitHub's clock counts whole seconds; what it says of the same second says nothing of before and after.
  if (shown === undefined || showed === null || !(Date.parse(said.said_at) > Date.parse(showed.at)))
    return { refused: "what waits was not shown here before you wrote: read it, then name its hash" };
  // Whoever reads an old page has seen another plan than the one that was shown last. A no harms nobody.
  if (said.what === "approve" && isSecond(shown, offered))
    return { refused: "another plan may have been shown here before: name the hash of the one you mean" };
  return { card: shown };
}
/** Another plan than this one may have been read on GitHub: a yes must name the one that it means. */
export function isSecond(
  { content_hash }: Pick<PendingCard, "content_hash">,
  offered: readonly string[] | null,
): boolean {
  return offered === null || offered.some((each) => each !== content_hash);
}
