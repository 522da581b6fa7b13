/** What the runtime found when it checked an attempt itself, check by check. */
import type { TaskView } from "../api/queries.ts";
import { commandLine } from "../review/grants.tsx";
import { Pre } from "../ui/pre.tsx";
import { Shown } from "../ui/shown.tsx";
import { duration } from "../ui/time.tsx";
import { plainText } from "./terminal-text.ts";

type VerificationView = TaskView["attempts"][number]["verifications"][number];
type CheckView = VerificationView["checks"][number];

const verdictWords: Readonly<Record<VerificationView["verdict"], string>> = {
  pass: "Verified",
  fail: "Checks failed",
  integrity_violation: "Touched what it must not touch",
  infra_error: "Could not be verified",
};

export function Verification({ verification }: { readonly verification: VerificationView }) {
  return (
    <section className={`verification ${verification.verdict}`} aria-label="Verification">
      <h4>{verdictWords[verification.verdict]}</h4>
      {verification.detail !== "" && (
        <p className="kept">
          <Shown text={verification.detail} />
        </p>
      )}
      {verification.checks.map((check, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: checks run in a fixed order
        <Check check={check} key={index} />
      ))}
    </section>
  );
}

function Check({ check }: { readonly check: CheckView }) {
  const passed = check.exit_code === 0 && !check.timed_out;
  const ended = check.timed_out
    ? "ran out of time"
    : check.exit_code === null
      ? "did not end"
      : `exit ${check.exit_code}`;
  return (
    <details className="check-run" open={!passed}>
      <summary>
        <span className={passed ? "good-text" : "bad-text"}>{passed ? "passed" : "failed"}</span>{" "}
        <code>
          <Shown text={commandLine(check.argv)} line />
        </code>
        <span className="quiet">
          {" "}
          {ended}, {duration(check.duration_ms)}
        </span>
      </summary>
      <Pre>{check.output === "" ? "It printed nothing." : <Shown text={plainText(check.output)} />}</Pre>
    </details>
  );
}
