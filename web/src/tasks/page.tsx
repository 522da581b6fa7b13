/** One task: where it stands, what waits, its work with its proofs, the change it makes, and its record. */
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { type TaskView, taskById } from "../api/queries.ts";
import { PlanDocument } from "../document/plan.tsx";
import { Fact } from "../review/facts.tsx";
import { Link } from "../route.tsx";
import { useMay } from "../session.ts";
import { Hash } from "../ui/hash.tsx";
import { Failure, Loading, Notice } from "../ui/notice.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago } from "../ui/time.tsx";
import { Cancel } from "./cancel.tsx";
import { Change } from "./change.tsx";
import { TaskEvents } from "./events.tsx";
import { Items } from "./items.tsx";
import { Status } from "./list.tsx";
import { Phases } from "./phases.tsx";
import { Remarks } from "./remarks.tsx";
import { Thinking } from "./thinking.tsx";

export function TaskPage({ id }: { readonly id: string }) {
  const task = useQuery(taskById(id));
  if (task.data !== undefined) return <Task task={task.data} />;
  if (task.error !== null) return <Failure error={task.error} again={() => void task.refetch()} />;
  return <Loading what="the task" />;
}

function Task({ task }: { readonly task: TaskView }) {
  const mayCancel = useMay("submitter");
  const ended = task.ended_at !== null || ["done", "denied", "failed", "cancelled"].includes(task.status);
  return (
    <article className="task">
      <Link to="/tasks" className="back">
        All tasks
      </Link>
      <header className="task-head">
        <h1>
          <Shown text={task.title} line />
        </h1>
        <p>
          <Status task={task} />{" "}
          <span className="quiet">
            asked <Ago at={task.created_at} /> by <Shown text={task.created_by} line />
          </span>
        </p>
        {task.description !== "" && (
          <p className="description">
            <Shown text={task.description} />
          </p>
        )}
      </header>
      {task.pending_approvals.length > 0 && <Waiting ids={task.pending_approvals} />}
      {task.reason !== null && task.reason !== "" && (
        <Notice tone={task.status === "done" ? "good" : "bad"} title={endWords[task.status]}>
          <p className="kept">
            <Shown text={task.reason} />
          </p>
        </Notice>
      )}
      {task.status === "done" && task.branch !== null && <Published task={task} />}
      <Phases task={task} />
      <TaskFacts task={task} />
      <Remarks task={task} />
      <Thinking task={task} />
      {task.items.length > 0 && <Items task={task} />}
      <Change task={task} />
      {task.plan !== null && <Plan plan={task.plan} />}
      <TaskEvents id={task.id} />
      {!ended && mayCancel && <Cancel task={task} />}
    </article>
  );
}

const endWords: Readonly<Record<TaskView["status"], string>> = {
  active: "Note",
  waiting: "Note",
  done: "Done",
  denied: "Denied",
  failed: "Failed",
  cancelled: "Cancelled",
};

function Waiting({ ids }: { readonly ids: readonly string[] }) {
  return (
    <Notice tone="plain" title={ids.length === 1 ? "This task waits for a decision" : `${ids.length} decisions wait`}>
      <p className="choices">
        {ids.map((id, index) => (
          <Link to={`/review/${encodeURIComponent(id)}`} className="button ink" key={id}>
            {ids.length === 1 ? "Read the card" : `Read card ${index + 1}`}
          </Link>
        ))}
      </p>
    </Notice>
  );
}

function Published({ task }: { readonly task: TaskView }) {
  return (
    <Notice tone="good" title="Verified and published">
      <p>
        Branch{" "}
        <code>
          <Shown text={task.branch ?? ""} line />
        </code>{" "}
        in the source repository. Nothing else was touched: merge it when you like.
      </p>
    </Notice>
  );
}

function TaskFacts({ task }: { readonly task: TaskView }) {
  return (
    <dl className="facts">
      <Fact name="Repository">
        <code>
          <Shown text={task.repo.url} line />
        </code>
      </Fact>
      <Fact name="Starts from">
        {task.base_commit === null ? (
          <Shown text={task.repo.ref} line />
        ) : (
          <Hash value={task.base_commit} label="Base commit" />
        )}
      </Fact>
      {task.branch !== null && (
        <Fact name="Branch">
          <code>
            <Shown text={task.branch} line />
          </code>
        </Fact>
      )}
      {task.commit !== null && (
        <Fact name="Commit">
          <Hash value={task.commit} label="Commit" />
        </Fact>
      )}
      <Fact name="Trace">
        <Hash value={task.trace_id} label="Trace" />
      </Fact>
    </dl>
  );
}

const planWords: Readonly<Record<NonNullable<TaskView["plan"]>["status"], string>> = {
  in_review: "in review",
  approved: "approved",
  denied: "denied",
  superseded: "replaced",
};

function Plan({ plan }: { readonly plan: NonNullable<TaskView["plan"]> }) {
  const [shown, setShown] = useState(false);
  const id = useId();
  return (
    <section className="task-plan" aria-label="Plan">
      <button type="button" className="fold" aria-expanded={shown} aria-controls={id} onClick={() => setShown(!shown)}>
        Plan, version {plan.version}, {planWords[plan.status]}
      </button>
      <div id={id}>{shown && <PlanDocument markdown={plan.markdown} />}</div>
    </section>
  );
}
