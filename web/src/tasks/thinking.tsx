/**
 * What a task's thinking came to: what it has spent and has left, the planner's questions, the rungs of the ladder
 * that were taken, and on request each call of a model. A task that never thought has no such place. [WEB-83]
 */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { type ThoughtView, taskThoughts } from "../api/minds.ts";
import type { TaskView } from "../api/queries.ts";
import { Fact } from "../review/facts.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago } from "../ui/time.tsx";
import { leftWords, researchWords, rungWords, spentWords, tokensOf, usdOf } from "./thinking-words.ts";

export function Thinking({ task }: { readonly task: TaskView }) {
  const { spent, research, rungs = [] } = task;
  const thought = spent !== undefined && spent.calls > 0;
  if (!thought && research === undefined && rungs.length === 0) return null;
  return (
    <section aria-label="Thinking" className="thinking">
      <h2>Thinking</h2>
      <dl className="facts">
        {thought && <Fact name="Spent">{spentWords(spent)}</Fact>}
        {thought && <Fact name="Left">{leftWords(spent)}</Fact>}
        {research !== undefined && <Fact name="Research">{researchWords(research)}</Fact>}
      </dl>
      {rungs.length > 0 && <Rungs task={task} rungs={rungs} />}
      {thought && <Calls id={task.id} count={spent.calls} />}
    </section>
  );
}

function Rungs({ task, rungs }: { readonly task: TaskView; readonly rungs: NonNullable<TaskView["rungs"]> }) {
  const titles = new Map(task.items.map((item) => [item.id, item.title]));
  return (
    <ol className="rungs" aria-label="The ladder">
      {rungs.map((rung) => (
        <li key={`${rung.work_item_id} ${rung.attempt_number} ${rung.from} ${rung.to}`}>
          <p>
            <strong>{rungWords.to[rung.to]}</strong>
            <span className="quiet">
              {" after attempt "}
              {rung.attempt_number} of <Shown text={titles.get(rung.work_item_id) ?? rung.work_item_id} line />,{" "}
              <Ago at={rung.at} />
            </span>
            {rungWords.state[rung.state] !== "" && <span className="rung-state">{rungWords.state[rung.state]}</span>}
          </p>
          <p className="kept">
            <Shown text={rung.why} />
            {rung.skipped.length > 0 && <span className="quiet"> Passed over: {rung.skipped.join(", ")}.</span>}
          </p>
          {rung.detail !== null && (
            <p className="kept quiet">
              <Shown text={rung.detail} />
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}

function Calls({ id, count }: { readonly id: string; readonly count: number }) {
  const [shown, setShown] = useState(false);
  const list = useId();
  return (
    <div>
      <button
        type="button"
        className="fold"
        aria-expanded={shown}
        aria-controls={list}
        onClick={() => setShown(!shown)}
      >
        {count} {count === 1 ? "call" : "calls"} of a model
      </button>
      <div id={list}>{shown && <CallList id={id} />}</div>
    </div>
  );
}

function CallList({ id }: { readonly id: string }) {
  const thoughts = useInfiniteQuery(taskThoughts(id));
  const items = thoughts.data?.pages.flatMap((page) => page.items);
  if (items === undefined)
    return thoughts.error === null ? (
      <Loading what="the calls" />
    ) : (
      <Failure error={thoughts.error} again={() => void thoughts.refetch()} />
    );
  return (
    <>
      {items.length === 0 && <p className="quiet">No call is on record any more.</p>}
      <ol className="thoughts">
        {items.map((one) => (
          <Thought one={one} key={one.id} />
        ))}
      </ol>
      {thoughts.hasNextPage && (
        <button
          type="button"
          className="small plain"
          disabled={thoughts.isFetching}
          onClick={() => void thoughts.fetchNextPage()}
        >
          {thoughts.isFetching ? "Loading…" : "Show more"}
        </button>
      )}
    </>
  );
}

function Thought({ one }: { readonly one: ThoughtView }) {
  return (
    <li>
      <p>
        <strong>{one.role}</strong>{" "}
        <code>
          <Shown text={one.model ?? "no model yet"} line />
        </code>
        <span className={`thought-state ${one.state}`}>{stateWords(one)}</span>
      </p>
      <p className="quiet">
        <Shown text={one.why === "attempt" ? one.agent : `${one.why}, ${one.agent}`} line /> · prompt{" "}
        <Shown text={one.prompt} line /> · {tokensOf(one)} · {usdOf(one)} · <Ago at={one.at} />
      </p>
      {one.failure !== null && (
        <p className="kept bad-text">
          <Shown text={one.failure} />
        </p>
      )}
    </li>
  );
}

function stateWords({ state, estimated }: ThoughtView): string {
  if (state === "open") return "under way";
  return state === "estimated" || estimated ? "estimated" : "charged";
}
