/** What became of a card that is no longer open: who decided what, and where it goes from here. [WEB-9] */
import type { ApprovalView } from "../api/queries.ts";
import { Link } from "../route.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago } from "../ui/time.tsx";
import { decisionWords } from "../ui/words.ts";

const words: Readonly<Record<ApprovalView["status"], string>> = {
  pending: "Open",
  approved: "Countersigned",
  denied: "Denied",
  expired: "Expired without a decision",
  superseded: "Replaced by a newer card",
};

export function Outcome({ approval, next }: { readonly approval: ApprovalView; readonly next: ApprovalView | null }) {
  const title = approval.status === "approved" && approval.kind !== "plan" ? "Approved" : words[approval.status];
  return (
    <section className={`outcome ${approval.status}`} aria-label="Decision">
      <h2 id="outcome" tabIndex={-1}>
        {title}
      </h2>
      {approval.decisions.length > 0 && (
        <ul className="decisions">
          {approval.decisions.map((decision) => (
            <li key={`${decision.by} ${decision.at}`}>
              {decisionWords[decision.decision]} by{" "}
              <strong>
                <Shown text={decision.by} />
              </strong>{" "}
              <Ago at={decision.at} />
              {decision.comment !== null && decision.comment !== "" && (
                <blockquote>
                  <Shown text={decision.comment} />
                </blockquote>
              )}
            </li>
          ))}
        </ul>
      )}
      <p className="outcome-links">
        <Link to={`/tasks/${encodeURIComponent(approval.task_id)}`}>Follow the task</Link>
        {next !== null && <Link to={`/review/${encodeURIComponent(next.id)}`}>Next card</Link>}
      </p>
    </section>
  );
}
