/**
 * Whether this tab may speak to the service. A sign-in link's ticket is exchanged once and leaves the
 * address bar at once; a pasted token stays in memory. [WEB-1, WEB-2]
 */
import { useSyncExternalStore } from "react";
import type { Caller, CallerRole } from "../../src/domain/view.ts";
import { call, onUnauthenticated, Problem, setBearer } from "./api/client.ts";

/** Who is signed in, as the service says it. */
export type Me = Pick<Caller, "scope_id" | "subject" | "role" | "via">;

export type Session =
  | { readonly kind: "opening" }
  | { readonly kind: "open"; readonly me: Me }
  | { readonly kind: "none"; readonly why: string | null }
  | { readonly kind: "unreachable" };

let session: Session = { kind: "opening" };
const listeners = new Set<() => void>();

function become(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}
export function useSession(): Session {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => session,
  );
}

/** Called once when the page loads. */
export async function startSession(): Promise<void> {
  onUnauthenticated(() => {
    setBearer(null);
    if (session.kind === "open") become({ kind: "none", why: "Your session has ended. Sign in again to go on." });
  });
  const ticket = /^#ticket=(.+)$/.exec(location.hash)?.[1];
  if (ticket === undefined) return probe(null);
  // Out of the address bar and the history before anything else can read or copy it.
  history.replaceState(null, "", location.pathname + location.search);
  try {
    become({
      kind: "open",
      me: await call<Me>("/auth/session", { method: "POST", body: { ticket: decodeTicket(ticket) } }),
    });
  } catch (error) {
    // The link may be a second use by somebody who is signed in already.
    await probe("This sign-in link was used before or is too old. Each link works once, for 15 minutes.", error);
  }
}

function decodeTicket(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Asks who is signed in; a 401 means nobody. */
async function probe(why: string | null, cause?: unknown): Promise<void> {
  if (cause instanceof Problem && cause.code === "unreachable") return become({ kind: "unreachable" });
  try {
    become({ kind: "open", me: await call<Me>("/api/me") });
  } catch (error) {
    const refused = error instanceof Problem && (error.status === 401 || error.status === 403);
    become(refused ? { kind: "none", why } : { kind: "unreachable" });
  }
}

const ranks: readonly CallerRole[] = ["viewer", "submitter", "approver", "admin"];

/** Whether the signed-in person holds at least this role. The service decides; this only spares them a refusal. */
export function useMay(role: CallerRole): boolean {
  const now = useSession();
  return now.kind === "open" && ranks.indexOf(now.me.role) >= ranks.indexOf(role);
}

export function retrySession(): void {
  become({ kind: "opening" });
  void probe(null);
}

/** Signs in with an API token. Resolves to a sentence when it is not accepted. */
export async function signInWithToken(token: string): Promise<string | null> {
  setBearer(token);
  try {
    become({ kind: "open", me: await call<Me>("/api/me") });
    return null;
  } catch (error) {
    setBearer(null);
    if (error instanceof Problem && error.status === 401)
      return "The service does not know this token, or it was revoked. Check that you pasted all of it.";
    return error instanceof Error ? error.message : "The service did not answer.";
  }
}

export async function signOut(): Promise<void> {
  await call("/auth/session", { method: "DELETE" }).catch(() => null);
  setBearer(null);
  become({ kind: "none", why: "You are signed out." });
}
