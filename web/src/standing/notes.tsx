/** Of a plan that no standing approval spoke for: which came nearest, and why they did not. [WEB-69] */
import type { ApprovalView } from "../api/queries.ts";
import { Link } from "../route.tsx";
import { Shown } from "../ui/shown.tsx";

export function StandingNotes({ approval }: { readonly approval: ApprovalView }) {
  const notes = approval.standing_notes ?? [];
  if (notes.length === 0) return null;
  return (
    <section aria-labelledby="advance-notes" className="advance-notes">
      <h2 id="advance-notes">Not approved in advance</h2>
      <ul className="advance-lines">
        {notes.map(({ id, name, why }) => (
          <li key={`${id} ${why}`}>
            {id === "" ? (
              <Shown text={name} line />
            ) : (
              <Link to={`/standing/${encodeURIComponent(id)}`}>
                <Shown text={name} line />
              </Link>
            )}
            : <Shown text={why} line />
          </li>
        ))}
      </ul>
    </section>
  );
}
