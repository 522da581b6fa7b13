/** What gates remarked on a task without holding it up. [WEB-82] */
import type { ReactNode } from "react";
import type { TaskView } from "../api/queries.ts";
import { Shown } from "../ui/shown.tsx";
import { Ago } from "../ui/time.tsx";

export function Remarks({ task }: { readonly task: TaskView }): ReactNode {
  const notes = task.gate_notes ?? [];
  if (notes.length === 0) return null;
  return (
    <section aria-label="Remarks of gates">
      <h2>Remarks of gates</h2>
      <ul className="origins">
        {notes.map(({ gate, trigger, reason, at }) => (
          <li key={`${gate} ${reason} ${at}`}>
            <Shown text={`${gate}: ${reason}`} line />{" "}
            <span className="quiet">
              ({trigger.replaceAll("_", " ")}, <Ago at={at} />)
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
