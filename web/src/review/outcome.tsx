/** What became of a card that is no longer open: who decided what, and where it goes from here. [WEB-9] */
import type { ApprovalView } from "../api/queries.ts";
import { Link } from "../route.tsx";
import { DecidedBy } from "../standing/by.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago } from "../ui/time.tsx";
import { decisionWords } from "../ui/words.ts";
import { LinkBy } from "./needs.tsx";

const words: Readonly<Record<ApprovalView["status"], string>> = {
  pending: "Open",
  approved: "Countersigned",
  denied: "Denied",
  expired: "Expired without a decision",
  superseded: "Replaced by a newer card",
};

function isDecision(what: string): boolean {
  return what === "approve" || what === "deny" || what === "request_changes";
}

export function Outcome({ approval, next }: { readonly approval: ApprovalView; readonly next: ApprovalView | null }) {
  const { winner } = approval;
  const takenBack = winner !== null && (winner.what === "cancel" || winner.what === "supersede");
  const approved = approval.status === "approved" && approval.kind !== "plan";
  const title = takenBack ? "Taken back" : approved ? "Approved" : words[approval.status];
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
                <DecidedBy subject={decision.by} />
              </strong>
              <LinkBy made={decision} /> <Ago at={decision.at} />
              {decision.comment !== null && decision.comment !== "" && (
                <blockquote>
                  <Shown text={decision.comment} />
                </blockquote>
              )}
            </li>
          ))}
        </ul>
      )}
      {winner !== null && !isDecision(winner.what) && (
        <p>
          <Ago at={winner.at} /> by <DecidedBy subject={winner.by} />
          {winner.reason !== null && (
            <>
              : <Shown text={winner.reason} />
            </>
          )}
        </p>
      )}
      <p className="outcome-links">
        <Link to={`/tasks/${encodeURIComponent(approval.task_id)}`}>Follow the task</Link>
        {next !== null && <Link to={`/review/${encodeURIComponent(next.id)}`}>Next card</Link>}
      </p>
    </section>
  );
}
