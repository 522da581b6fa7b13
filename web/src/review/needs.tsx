/**
 * What a card asks of whoever decides it: until when, whose approval stands and whose is lacking, and why the person
 * who reads it may not approve it. [WEB-70] [WEB-71] [WEB-72]
 */
import { approvalsOf, whyNotYes } from "../../../src/domain/deciding.ts";
import type { ApprovalView } from "../api/queries.ts";
import { useSession } from "../session.ts";
import { DecidedBy } from "../standing/by.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago, Until } from "../ui/time.tsx";

export function Needs({ approval }: { readonly approval: ApprovalView }) {
  const { needs, expires_at, status } = approval;
  if (status !== "pending") return null;
  const approved = approvalsOf(needs, approval);
  const lines = [
    expires_at !== null && (
      <li key="expires">
        Expires <Until at={expires_at} /> if nobody decides.
      </li>
    ),
    needs.approvers > 1 && (
      <li key="approvals">
        <strong>
          {approved.length} of {needs.approvers} approvals
        </strong>
        {approved.length === 0 && ": two different people must approve."}
        {approved.map((made) => (
          <span key={made.by}>
            : by <DecidedBy subject={made.by} />
            <LinkBy made={made} /> <Ago at={made.at} />
          </span>
        ))}
      </li>
    ),
    needs.revoked !== undefined && (
      <li key="revoked">
        {needs.revoked.map((by) => (
          <span key={by}>
            The approval of <DecidedBy subject={by} /> no longer counts: their token was revoked.{" "}
          </span>
        ))}
      </li>
    ),
    needs.not_by !== null && (
      <li key="own">
        Not by <Shown text={needs.not_by} />, who asked for the task.
      </li>
    ),
    needs.proof !== "token" && <li key="proof">Only somebody signed in on this page may approve it.</li>,
  ].filter((line) => line !== false);
  return lines.length === 0 ? null : (
    <ul className="needs" aria-label="What this card needs">
      {lines}
    </ul>
  );
}

/** Who else could have said it: whoever makes a link for somebody can open it. */
export function LinkBy({ made }: { readonly made: ApprovalView["decisions"][number] }) {
  if (made.link_by === undefined) return null;
  return (
    <>
      {" "}
      (by a sign-in link that <DecidedBy subject={made.link_by} /> made)
    </>
  );
}

/** Why the signed-in person may not approve this card; null when they may, or when their role decides that already. */
export function useWhyNotYou(approval: ApprovalView): string | null {
  const session = useSession();
  if (session.kind !== "open" || approval.status !== "pending") return null;
  return whyNotYes(approval.needs, approval, session.me)?.detail ?? null;
}
