/** The short facts of a card: where it acts, what it publishes, what it may spend, whose words it holds. */
import type { ReactNode } from "react";
import type { ApprovalView } from "../api/queries.ts";
import { Hash } from "../ui/hash.tsx";
import { Shown } from "../ui/shown.tsx";
import { taintWords } from "../ui/words.ts";
import { HiddenParts, WhoAsked } from "./asked.tsx";
import { Origins } from "./taint.tsx";

export function Facts({ approval }: { readonly approval: ApprovalView }) {
  const { card } = approval;
  const taint = taintWords[card.taint];
  return (
    <dl className="facts">
      <Fact name="Repository">
        <code>
          <Shown text={card.repo} />
        </code>
      </Fact>
      {card.base_commit !== null && (
        <Fact name="Starts from">
          <Hash value={card.base_commit} label="Base commit" />
        </Fact>
      )}
      <Fact name="Publishes">
        {card.publishes === null ? (
          "nothing"
        ) : (
          <code>
            <Shown text={card.publishes} />
          </code>
        )}
      </Fact>
      <Fact name="Budget">{card.kind === "plan" ? planBudgetWords(card.budget) : budgetWords(card.budget)}</Fact>
      <Fact name="Source of words">
        <span className={taint.trusted ? undefined : "untrusted"}>
          {taint.word}: {taint.means}
        </span>
        <Origins card={card} />
      </Fact>
      {card.asked_by !== undefined && (
        <Fact name="Wished by">
          <WhoAsked {...card.asked_by} />
        </Fact>
      )}
      {card.hidden !== undefined && (
        <Fact name="Hidden in the words" wide>
          <HiddenParts parts={card.hidden} />
        </Fact>
      )}
      <Fact name="Asked by rule">
        <Shown text={approval.rule} />
      </Fact>
    </dl>
  );
}

interface OneFact {
  readonly name: string;
  readonly children: ReactNode;
  /** Long texts take a row of their own. */
  readonly wide?: boolean;
}
export function Fact({ name, children, wide = false }: OneFact) {
  return (
    <div className={wide ? "fact wide" : "fact"}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** In a plan no dollars are no limit in dollars, and no tokens leave it to what the task was given. */
function planBudgetWords(budget: ApprovalView["card"]["budget"]): string {
  if (budget === null) return "no limit of its own";
  const { tokens, usd, minutes } = budget;
  const money = usd === null || usd === 0 ? "no limit in dollars" : `$${usd.toFixed(2)}`;
  const parts =
    tokens === null || tokens === 0 ? ["no tokens of its own"] : [`${tokens.toLocaleString("en")} tokens`, money];
  return [...parts, ...(minutes === null ? [] : [`${minutes} min`])].join(", ");
}

function budgetWords(budget: ApprovalView["card"]["budget"]): string {
  if (budget === null) return "no limit of its own";
  const parts = [
    budget.tokens === null ? null : `${budget.tokens.toLocaleString("en")} tokens`,
    budget.usd === null ? null : `$${budget.usd.toFixed(2)}`,
    budget.minutes === null ? null : `${budget.minutes} min`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? "no limit of its own" : parts.join(", ");
}
