/** What is not known: calls of open tasks of which nobody can say what became, quietly, above the cards. [WEB-45] */
import { useQuery } from "@tanstack/react-query";
import { openTasks } from "../api/queries.ts";
import { Link } from "../route.tsx";
import { Shown } from "../ui/shown.tsx";

const standing = {
  asking: "its sandbox has not answered yet",
  unknown: "nobody can say any more",
} as const;
const again = {
  never: "It is not run again by itself.",
  looked_up: "Before it is done again, the branch is looked at.",
} as const;

export function UnknownList() {
  const open = useQuery(openTasks);
  const effects = (open.data ?? []).flatMap((task) => task.unknown_effects.map((effect) => ({ task, effect })));
  if (effects.length === 0) return null;
  return (
    <section className="unknown" aria-label="What is not known">
      <h3>What is not known</h3>
      <ul>
        {effects.map(({ task, effect }) => (
          <li key={`${effect.attempt_id}/${effect.call_id}`}>
            <p>
              What became of <Shown text={effect.tool} line /> in{" "}
              <Link to={`/tasks/${encodeURIComponent(task.id)}`}>
                <Shown text={task.title} line />
              </Link>
              : {standing[effect.state]}
              {effect.answered !== null && (
                <>
                  {" "}
                  (<Shown text={effect.answered} line />)
                </>
              )}
              . {again[effect.repeats]}
            </p>
            <pre>
              <Shown text={effect.arguments} />
            </pre>
            <p className="quiet">
              attempt <Shown text={effect.attempt_id} line />
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
