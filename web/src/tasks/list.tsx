/** Every task of the scope, newest first. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type TaskSummary, tasks } from "../api/queries.ts";
import { Link } from "../route.tsx";
import { useMay } from "../session.ts";
import { Empty, Failure, Loading } from "../ui/notice.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago } from "../ui/time.tsx";
import { statusWords } from "../ui/words.ts";

export function TasksPage() {
  // The cursors of the pages before this one; the last is this one's.
  const [cursors, setCursors] = useState<readonly (string | null)[]>([null]);
  const page = useQuery(tasks(cursors.at(-1) ?? null));
  const mayAsk = useMay("submitter");
  const nextCursor = page.data?.next_cursor ?? null;
  return (
    <div className="narrow">
      <div className="page-head">
        <h1>Tasks</h1>
        {mayAsk && (
          <Link to="/tasks/new" className="button plain">
            New task
          </Link>
        )}
      </div>
      {page.data === undefined && page.error === null && <Loading what="tasks" />}
      {page.data === undefined && page.error !== null && (
        <Failure error={page.error} again={() => void page.refetch()} />
      )}
      {page.data !== undefined && page.data.items.length === 0 && (
        <Empty title="No task yet">
          <p>
            A task names a repository and what should change in it. <Link to="/tasks/new">Ask for the first one</Link>.
          </p>
        </Empty>
      )}
      <ul className="tasks">
        {page.data?.items.map((task) => (
          <Row task={task} key={task.id} />
        ))}
      </ul>
      {(cursors.length > 1 || nextCursor !== null) && (
        <nav className="pager" aria-label="More tasks">
          <button
            type="button"
            className="plain"
            disabled={cursors.length === 1}
            onClick={() => setCursors(cursors.slice(0, -1))}
          >
            Newer
          </button>
          <button
            type="button"
            className="plain"
            disabled={nextCursor === null}
            onClick={() => setCursors([...cursors, nextCursor])}
          >
            Older
          </button>
        </nav>
      )}
    </div>
  );
}

function Row({ task }: { readonly task: TaskSummary }) {
  return (
    <li>
      <Link to={`/tasks/${encodeURIComponent(task.id)}`} className="task-row">
        <Status task={task} />
        <span className="task-title">
          <Shown text={task.title} line />
        </span>
        <span className="quiet task-repo">
          <Shown text={shortRepo(task.repo.url)} line />
        </span>
        <span className="quiet task-when">
          <Ago at={task.updated_at} />
        </span>
      </Link>
    </li>
  );
}

export function Status({ task }: { readonly task: Pick<TaskSummary, "status" | "waiting_on" | "phase"> }) {
  return <span className={`status ${task.status}`}>{statusWords(task)}</span>;
}

/** The last two parts of an address: enough to tell repositories apart in a list. */
export function shortRepo(url: string): string {
  return url
    .split("/")
    .filter((part) => part !== "")
    .slice(-2)
    .join("/");
}
