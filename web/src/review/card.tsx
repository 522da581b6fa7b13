/**
 * One card: everything a person needs before they sign, in the order of a contract. The subject, the
 * plan, what signing grants, the proof of its bytes, and last the decision. [WEB-3, WEB-5, WEB-8, WEB-10]
 */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type ApprovalView, taskById } from "../api/queries.ts";
import { PlanDocument } from "../document/plan.tsx";
import { Link } from "../route.tsx";
import { useMay } from "../session.ts";
import { StandingNotes } from "../standing/notes.tsx";
import { Hash } from "../ui/hash.tsx";
import { Failure, Loading, Notice } from "../ui/notice.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago } from "../ui/time.tsx";
import { kindWords } from "../ui/words.ts";
import { Decide } from "./decide.tsx";
import { Facts } from "./facts.tsx";
import { Environment, Grants } from "./grants.tsx";
import { Needs, useWhyNotYou } from "./needs.tsx";
import { Outcome } from "./outcome.tsx";
import { changesBetween, type Proof, prove } from "./proof.ts";
import { Tool } from "./tool.tsx";

export function CardPage({ approval, next }: { readonly approval: ApprovalView; readonly next: ApprovalView | null }) {
  const { card } = approval;
  const isPlan = approval.kind === "plan";
  const task = useQuery({ ...taskById(approval.task_id), enabled: isPlan });
  const plan = task.data?.plan ?? null;
  // A newer plan may already be on file while an old card is read: show only the text this card is about.
  const markdown = plan !== null && plan.plan_hash === card.plan_hash ? plan.markdown : null;
  // Cards of before it stood on them leave it to the plan.
  const goal = card.goal ?? (markdown === null ? "" : (plan?.goal ?? ""));
  const changed = useChanges(approval);
  const mayDecide = useMay("approver");
  const readable = !isPlan || markdown !== null;
  const proof = useProof(approval, markdown, readable);
  const notYou = useWhyNotYou(approval);

  return (
    <article className="sheet" aria-labelledby="card-title">
      <header className="sheet-head">
        <p className="kind">
          {kindWords[approval.kind]}
          <span className="quiet">
            {" "}
            asked <Ago at={approval.requested_at} /> by <Shown text={card.requested_by} />
          </span>
        </p>
        <h1 id="card-title" tabIndex={-1}>
          <Shown text={card.title} />
        </h1>
        {goal !== "" && (
          <p className="goal">
            <Shown text={goal} />
          </p>
        )}
        <p className="why">
          <Shown text={card.why} />
        </p>
        <Needs approval={approval} />
        <Link to={`/tasks/${encodeURIComponent(approval.task_id)}`}>Open the task</Link>
      </header>

      {changed !== null && <Changed what={changed} />}
      <Facts approval={approval} />
      {card.facts.length > 0 && (
        <section aria-label="Before you decide" className="before">
          <h2>Before you decide</h2>
          <ul>
            {card.facts.map((fact, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same fact may be told twice
              <li key={index}>
                <Shown text={fact} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <StandingNotes approval={approval} />
      {card.tool !== null && <Tool tool={card.tool} />}
      {isPlan && markdown !== null && <PlanDocument markdown={markdown} />}
      {isPlan && markdown === null && <MissingPlan task={task} />}
      {card.environment !== null && <Environment environment={card.environment} />}
      {card.items.length > 0 && <Grants items={card.items} />}
      <ProofLine approval={approval} proof={proof} />
      {approval.status === "pending" ? (
        <Decide
          approval={approval}
          blocked={notYou ?? whyBlocked(readable, proof)}
          may={mayDecide}
          key={approval.content_hash}
        />
      ) : (
        <Outcome approval={approval} next={next} />
      )}
    </article>
  );
}

function whyBlocked(readable: boolean, proof: Proof | null): string | null {
  if (proof === "broken")
    return "This card does not match its own hash, so it cannot be approved here. Reload; if it stays so, deny it.";
  if (!readable) return "The plan is not shown yet, so it cannot be approved yet.";
  return proof === null ? "Checking the bytes of this card…" : null;
}

/** Null until all of what is to be proven is here. */
function useProof(approval: ApprovalView, plan: string | null, readable: boolean): Proof | null {
  const [proof, setProof] = useState<{ of: string; is: Proof } | null>(null);
  const of = `${approval.content_hash} ${plan === null}`;
  useEffect(() => {
    if (!readable) return;
    let current = true;
    prove(approval, plan).then(
      (is) => current && setProof({ of, is }),
      () => current && setProof({ of, is: "broken" }),
    );
    return () => {
      current = false;
    };
  }, [approval, plan, readable, of]);
  return proof?.of === of ? proof.is : null;
}

/** What differs from the version this person began to read; null while it is the same. */
function useChanges(approval: ApprovalView): readonly string[] | null {
  const began = useRef(approval);
  const before = began.current;
  if (before.content_hash === approval.content_hash) return null;
  return changesBetween(before.card, approval.card);
}

function Changed({ what }: { readonly what: readonly string[] }) {
  return (
    <Notice tone="warn" title="This card changed while you read it. Nothing was decided." alert>
      <p>
        Below is the new one. {what.length > 0 && <>Different now: {what.join(", ")}. </>}
        Read it again before you decide.
      </p>
    </Notice>
  );
}

function MissingPlan({
  task,
}: {
  readonly task: { readonly error: unknown; readonly isPending: boolean; readonly refetch: () => unknown };
}) {
  if (task.isPending) return <Loading what="the plan" />;
  if (task.error !== null) return <Failure error={task.error} again={() => void task.refetch()} />;
  return (
    <Notice tone="warn" title="The plan on file is another version than this card is about">
      <p>A newer plan has taken its place. Look in Review for its card.</p>
    </Notice>
  );
}

const proofWords: Readonly<Record<Proof, string>> = {
  checked: "Your browser checked that what you see is what these hashes name.",
  broken: "What the service sent does not match these hashes.",
  unchecked: "Not checked in this browser: it offers hashing only over https or on the service's own machine.",
};

function ProofLine({ approval, proof }: { readonly approval: ApprovalView; readonly proof: Proof | null }) {
  return (
    <section className="proof" aria-label="Hashes">
      <dl>
        <div>
          <dt>Card</dt>
          <dd>
            <Hash value={approval.content_hash} label="content_hash" />
          </dd>
        </div>
        {approval.card.plan_hash !== null && (
          <div>
            <dt>Plan</dt>
            <dd>
              <Hash value={approval.card.plan_hash} label="plan_hash" />
            </dd>
          </div>
        )}
        <div>
          <dt>Policy</dt>
          <dd>
            <Hash value={approval.card.policy_hash} label="policy_hash" />
          </dd>
        </div>
      </dl>
      {proof !== null && (
        <p className={proof === "broken" ? "bad-text" : "quiet"} role={proof === "broken" ? "alert" : undefined}>
          {proofWords[proof]}
        </p>
      )}
    </section>
  );
}
