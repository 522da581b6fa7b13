/** One standing approval: its bounds in words, who made it and why, what it spoke for, and taking it back. [WEB-65] */
import { useQuery } from "@tanstack/react-query";
import { boundsInWords } from "../../../src/domain/standing-words.ts";
import { type StandingView, standingById } from "../api/standing.ts";
import { Link } from "../route.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago } from "../ui/time.tsx";
import { Revoke } from "./revoke.tsx";
import { statusWords } from "./words.ts";

export function OneStanding({ id, may }: { readonly id: string; readonly may: boolean }) {
  const found = useQuery(standingById(id));
  if (found.data === undefined)
    return found.error === null ? (
      <Loading what="the standing approval" />
    ) : (
      <Failure error={found.error} again={() => void found.refetch()} />
    );
  const standing = found.data;
  return (
    <article className="advance-one" aria-labelledby="advance-title">
      <Head standing={standing} />
      {standing.status !== "revoked" &&
        (may ? <Revoke id={id} /> : <p className="quiet">Revoking needs an approver.</p>)}
      <section aria-labelledby="bounds-title">
        <h2 id="bounds-title">Its bounds</h2>
        <dl className="bounds">
          {boundsInWords(standing.bounds).map(({ what, is }) => (
            <div key={what}>
              <dt>{what}</dt>
              <dd>
                <Shown text={is} line />
              </dd>
            </div>
          ))}
        </dl>
      </section>
      <Used standing={standing} />
    </article>
  );
}

function Head({ standing }: { readonly standing: StandingView }) {
  const { ended } = standing;
  return (
    <header>
      <div className="page-head">
        <h1 tabIndex={-1} id="advance-title">
          <Shown text={standing.name} line />
        </h1>
        <span className={`advance-status ${standing.status}`} role="status">
          {statusWords[standing.status]}
        </span>
      </div>
      <p>
        <Shown text={standing.reason} />
      </p>
      <p className="quiet">
        Made by <Shown text={standing.made_by} line /> <Ago at={standing.made_at} />
      </p>
      {ended !== null && (
        <p className="quiet">
          Ended by <Shown text={ended.by} line /> <Ago at={ended.at} />: <Shown text={ended.reason} line />
        </p>
      )}
      <p>
        <strong>{standing.uses_left}</strong> of {standing.uses} uses left, until{" "}
        <time dateTime={standing.until}>{new Date(standing.until).toLocaleString()}</time>
      </p>
    </header>
  );
}

function Used({ standing }: { readonly standing: StandingView }) {
  return (
    <section aria-labelledby="used-title">
      <h2 id="used-title">What it approved</h2>
      {standing.used.length === 0 && (
        <p className="quiet">
          {standing.uses_left === standing.uses ? "Nothing yet." : "What that was so long ago stands in the audit."}
        </p>
      )}
      <ul className="advance-lines">
        {standing.used.map(({ approval_id, task_id, at }) => (
          <li key={approval_id}>
            <Link to={`/tasks/${encodeURIComponent(task_id)}`}>
              <Shown text={task_id} line />
            </Link>{" "}
            by <Link to={`/review/${encodeURIComponent(approval_id)}`}>this card</Link> <Ago at={at} />
          </li>
        ))}
      </ul>
    </section>
  );
}
