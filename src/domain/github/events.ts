/**
 * What a webhook means to us: something happened that may count, an installation changed, or nothing, and why. Who may
 * do it is not decided here: the courier asks GitHub, and the runtime decides. [GHI-2] [GHI-3]
 */
import { branchOfOurs } from "./branches.ts";
import { checkHappening } from "./check-events.ts";
import { readCommand } from "./commands.ts";
import type { Ignored } from "./ignored.ts";
import {
  type About,
  type Common,
  isOf,
  momentOf,
  type ReadRepository,
  readAbout,
  readCommon,
  readSaid,
  repositoryOf,
  type Said,
  threadOf,
  written,
} from "./payload.ts";
import { type GithubPerson, type GithubRepository, type GithubThread, type Happening, happening } from "./shapes.ts";
import { listed, sameName, type Triggers } from "./triggers.ts";

/** Our App, as GitHub names it. */
export interface GithubIdentity {
  readonly app_id: number;
  readonly slug: string;
  /** `<slug>[bot]`. */
  readonly bot_login: string;
}
/** Something about an installation changed; what, the App's API says. */
export interface InstallationEvent {
  readonly event: string;
  readonly action: string;
  readonly installation_id: number;
  readonly account: string | null;
}
type Installation = { readonly kind: "installation"; readonly installation: InstallationEvent };
type Nothing = { readonly kind: "ignored"; readonly why: Ignored };
export type Reading =
  | { readonly kind: "happening"; readonly repository: GithubRepository; readonly happening: Happening }
  | Installation
  | Nothing;
export type Address = { readonly kind: "repository"; readonly repository: GithubRepository } | Installation | Nothing;

const installations = new Map<string, readonly string[]>([
  ["installation", ["created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"]],
  ["installation_repositories", ["added", "removed"]],
  ["installation_target", ["renamed"]],
  ["repository", ["renamed", "transferred", "privatized", "publicized", "deleted"]],
]);
const happenings = new Map<string, readonly string[]>([
  ["issues", ["labeled", "unlabeled", "assigned", "edited", "deleted", "closed", "reopened", "transferred"]],
  ["issue_comment", ["created", "edited", "deleted"]],
  ["pull_request", ["labeled", "unlabeled", "assigned", "review_requested", "edited", "closed", "reopened"]],
  ["pull_request_review_comment", ["created", "edited", "deleted"]],
  ["pull_request_review", ["submitted"]],
  ["check_run", ["completed", "requested_action"]],
]);

/** Whose event it is, as far as the payload says: asked first, because a repository's triggers decide the rest. */
export function addressOf(event: string, payload: unknown): Address {
  return placed(event, readCommon(payload));
}

function placed(event: string, common: Common | null): Address {
  if (event === "ping") return ignored("ping");
  const actions = installations.get(event) ?? happenings.get(event);
  if (actions === undefined) return ignored("unknown_event");
  if (common === null) return ignored("malformed");
  const { action, installation, repository } = common;
  if (!actions.includes(action)) return ignored("unknown_action");
  if (installation === null) return ignored("no_installation");
  const installation_id = installation.id;
  const account = installation.account?.login ?? null;
  if (installations.has(event))
    return { kind: "installation", installation: { event, action, installation_id, account } };
  if (repository === null) return ignored("malformed");
  return { kind: "repository", repository: repositoryOf(repository, installation_id) };
}

export function readEvent(event: string, payload: unknown, identity: GithubIdentity, triggers: Triggers): Reading {
  const common = readCommon(payload);
  const address = placed(event, common);
  if (address.kind !== "repository") return address;
  // A repository's address was found in it, so it is an object.
  if (!isOf(event, payload as object)) return ignored("malformed");
  const { action, repository, sender } = common as Common & { repository: ReadRepository };
  if (event === "check_run")
    return told(address.repository, checkHappening({ action, payload, repository, sender, identity, triggers }));
  if (sender === null) return ignored("malformed");
  const stranger = strangerOf(sender, identity, triggers);
  if (stranger !== null) return ignored(stranger);
  const about = readAbout(payload);
  if (about.thread === null) return ignored("malformed");
  const thread = threadOf(about.thread, about.is_pull, repository.id);
  const seen: Seen = { action, about, thread, by: sender, identity, triggers };
  return told(address.repository, happeningOf(event, seen, readSaid(payload)));
}

/** What is not in our own words would be a defect of the reading, and goes no further. */
function told(repository: GithubRepository, found: Happening | Ignored): Reading {
  if (typeof found === "string") return ignored(found);
  const read = happening.safeParse(found);
  return read.success ? { kind: "happening", repository, happening: read.data } : ignored("malformed");
}
function ignored(why: Ignored): Nothing {
  return { kind: "ignored", why };
}

/** Ourselves never; a bot only by name. */
export function strangerOf(by: GithubPerson, identity: GithubIdentity, triggers: Triggers): "self" | "bot" | null {
  if (sameName(by.login, identity.bot_login)) return "self";
  return by.is_bot && !listed(triggers.bots, by.login) ? "bot" : null;
}

interface Seen {
  readonly action: string;
  readonly about: About;
  readonly thread: GithubThread;
  readonly by: GithubPerson;
  readonly identity: GithubIdentity;
  readonly triggers: Triggers;
}

function happeningOf(event: string, seen: Seen, said: Said | null): Happening | Ignored {
  if (event === "issues" || event === "pull_request") return ofThread(seen);
  if (said === null) return "malformed";
  const { identity, action } = seen;
  // Somebody else may edit or delete what we wrote: it is put right when it is next shown.
  const ours =
    said.performed_via_github_app?.id === identity.app_id ||
    (said.user !== null && sameName(said.user.login, identity.bot_login));
  if (ours) return "self";
  if (action === "edited" || action === "deleted") return changed(seen, action, said.id);
  return ofWords(seen, said, event);
}

function ofThread(seen: Seen): Happening | Ignored {
  const { action, about, triggers } = seen;
  switch (action) {
    case "labeled":
      if (!triggers.label.on) return "trigger_off";
      return isTrigger(seen) ? wish(seen, "label") : "other_label";
    case "unlabeled":
      return isTrigger(seen) ? changed(seen, "unlabeled") : "other_label";
    case "assigned":
      if (!triggers.assignment) return "trigger_off";
      return isUs(about.assignee, seen) ? wish(seen, "assignment") : "other_person";
    case "review_requested":
      if (!triggers.review_request) return "trigger_off";
      return isUs(about.requested_reviewer, seen) ? wish(seen, "review_request") : "other_person";
    case "closed":
    case "reopened":
    case "edited":
    case "deleted":
      return changed(seen, action);
    default:
      // Transferred: it is gone from this repository.
      return changed(seen, "deleted");
  }
}
function isTrigger({ about, triggers }: Seen): boolean {
  return about.label != null && sameName(about.label.name.trim(), triggers.label.name);
}
function isUs(person: GithubPerson | null | undefined, { identity, triggers }: Seen): boolean {
  return person != null && (sameName(person.login, identity.bot_login) || listed(triggers.logins, person.login));
}

/** A comment or a review that is new. Editing one later triggers nothing. */
function ofWords(seen: Seen, said: Said, event: string): Happening | Ignored {
  const { by, thread, triggers } = seen;
  const review = event !== "issue_comment" && triggers.review_comment && branchOfOurs(thread) !== null;
  const command = readCommand(said.body ?? "", seen.identity.slug, !review);
  const comment_id = event === "pull_request_review" ? null : said.id;
  if (command === null) {
    if (!review || (said.body ?? "").trim() === "") return "no_command";
    return wish(seen, "review_comment", said, comment_id);
  }
  if (command.what === "wish") return triggers.comment ? wish(seen, "comment", said, comment_id) : "trigger_off";
  const said_at = saidAt(said);
  if (said_at === undefined) return "malformed";
  const named = { reason: null, hash: null, task_id: null };
  const answered = { kind: "decision", by, via: "comment", said_at, thread, ...named } as const;
  switch (command.what) {
    case "status":
    case "help":
    case "unclear":
      return { ...answered, what: command.what };
    default: {
      // Of a review and its comments GitHub does not say whether an App wrote them in a person's name.
      if (event !== "issue_comment") return { ...answered, what: "misplaced" };
      const app = said.performed_via_github_app === null ? {} : { app: true };
      const { what, ...meant } = command.what === "cancel" ? { what: command.what, task_id: command.task } : command;
      return { ...answered, ...meant, what, ...app };
    }
  }
}
function saidAt({ submitted_at, created_at }: Said): string | undefined {
  return momentOf(submitted_at || created_at);
}

type Wish = Extract<Happening, { kind: "wish" }>;
function wish(seen: Seen, trigger: Wish["trigger"], said?: Said, comment_id: number | null = null): Happening {
  const { about, by, thread } = seen;
  const own = written(about.thread?.user ?? null, about.thread?.body ?? null);
  const texts = said === undefined ? [own] : [own, { ...written(said.user, said.body), ...placeOf(said) }];
  const labels = about.thread?.labels ?? [];
  const label = trigger === "label" ? (about.label?.name ?? null) : null;
  const at = said === undefined ? momentOf(about.thread?.updated_at ?? "") : saidAt(said);
  return {
    ...{ kind: "wish", trigger, by, thread, texts, labels, label, follows: branchOfOurs(thread), comment_id },
    ...(at === undefined ? {} : { at }),
  };
}
/** A review comment speaks of a line. */
function placeOf({ path, line }: Said) {
  return path === null || path === "" ? {} : { place: { path, line } };
}
type Changed = Extract<Happening, { kind: "changed" }>;
function changed({ by, thread }: Seen, what: Changed["what"], comment_id: number | null = null): Happening {
  return { kind: "changed", what, by, thread, comment_id };
}
