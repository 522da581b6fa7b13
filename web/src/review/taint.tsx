/** Where a card's taint came from: what made it so first, then the rest of what was read. [WEB-80] [WEB-81] */
import type { ReactNode } from "react";
import type { ApprovalView } from "../api/queries.ts";
import { Shown } from "../ui/shown.tsx";
import { Ago } from "../ui/time.tsx";
import { taintWords } from "../ui/words.ts";

type Origin = NonNullable<ApprovalView["card"]["taint_sources"]>[number];

export function Origins({ card }: { readonly card: ApprovalView["card"] }): ReactNode {
  const all = card.taint_sources ?? [];
  if (all.length === 0) return null;
  const decisive = all.filter((one) => one.taint === card.taint);
  const rest = all.filter((one) => one.taint !== card.taint);
  return (
    <>
      <OriginList of={decisive} name="Where it came from" />
      {rest.length > 0 && (
        <details>
          <summary>What else it rests on ({rest.length})</summary>
          <OriginList of={rest} name="What else it rests on" />
        </details>
      )}
    </>
  );
}

function OriginList({ of, name }: { readonly of: readonly Origin[]; readonly name: string }) {
  return (
    <ul className="origins" aria-label={name}>
      {of.map(({ taint, source, at }) => (
        <li key={`${taint} ${source}`}>
          {taintWords[taint].word}: <Shown text={source} line />, <Ago at={at} />
        </li>
      ))}
    </ul>
  );
}
