/** What somebody without a session sees: how to get a link, or a place for a token. [WEB-1, WEB-2] */
import { type FormEvent, useState } from "react";
import { retrySession, type Session, signInWithToken } from "./session.ts";
import { Notice } from "./ui/notice.tsx";

export function SignIn({ session }: { readonly session: Exclude<Session, { kind: "open" }> }) {
  return (
    <main className="signin" id="main">
      <h1 className="wordmark">Countersign</h1>
      <p className="lead">Agents plan. You sign. Then, and only then, it runs.</p>
      {session.kind === "opening" && <p role="status">Signing in…</p>}
      {session.kind === "unreachable" && (
        <Notice tone="bad" title="The service cannot be reached" alert>
          <p>Check that it is running (npm start), then try again.</p>
          <button type="button" className="plain" onClick={retrySession}>
            Try again
          </button>
        </Notice>
      )}
      {session.kind === "none" && (
        <>
          {session.why !== null && <Notice tone="warn" title={session.why} alert />}
          <h2>Sign in with a link</h2>
          <p>
            Run <code>npm start</code> where the service runs. It prints a link that works once, for 15 minutes. Open it
            in this browser.
          </p>
          <TokenForm />
        </>
      )}
    </main>
  );
}

function TokenForm() {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (busy || token.trim() === "") return;
    setBusy(true);
    setProblem(await signInWithToken(token.trim()));
    setBusy(false);
  };
  return (
    <form onSubmit={submit}>
      <h2>Or with an API token</h2>
      <label htmlFor="token">API token</label>
      <input
        id="token"
        type="password"
        autoComplete="off"
        spellCheck={false}
        placeholder="cs_…"
        value={token}
        onChange={(event) => setToken(event.target.value)}
        aria-describedby="token-note"
        aria-invalid={problem !== null}
      />
      <p id="token-note" className="quiet">
        Kept in this tab's memory only. Reloading the page forgets it.
      </p>
      {problem !== null && <Notice tone="bad" title={problem} alert />}
      <button type="submit" className="plain" disabled={busy}>
        {busy ? "Checking…" : "Use this token"}
      </button>
    </form>
  );
}
