/** Work items with their attempts, and for each attempt its proof: the patch it left and the checks it met. */
import type { TaskView } from "../api/queries.ts";
import { Shown } from "../ui/shown.tsx";
import { duration, size } from "../ui/time.tsx";
import { AttemptOutput } from "./output.tsx";
import { recoveryWords } from "./thinking-words.ts";
import { Verification } from "./verification.tsx";

type ItemView = TaskView["items"][number];
type AttemptView = TaskView["attempts"][number];

export function Items({ task }: { readonly task: TaskView }) {
  return (
    <section aria-label="Work items">
      <h2>Work</h2>
      <ol className="work">
        {task.items.map((item) => (
          <Item
            item={item}
            attempts={task.attempts.filter((attempt) => attempt.work_item_id === item.id)}
            key={item.id}
          />
        ))}
      </ol>
    </section>
  );
}

function Item({ item, attempts }: { readonly item: ItemView; readonly attempts: readonly AttemptView[] }) {
  const newest = attempts.reduce((most, attempt) => Math.max(most, attempt.number), 0);
  return (
    <li className="work-item">
      <h3>
        <Shown text={item.title} line />
        <span className={`status ${item.outcome}`}>{itemWords(item)}</span>
      </h3>
      <p className="quiet">
        <code>
          <Shown text={item.item_id} line />
        </code>
        {item.depends_on.length > 0 && (
          <>
            {" after "}
            <Shown text={item.depends_on.join(", ")} line />
          </>
        )}
        {`, ${item.attempts_used} of ${item.max_attempts} attempts used`}
      </p>
      {attempts.map((attempt) => (
        <Attempt attempt={attempt} newest={attempt.number === newest} key={attempt.id} />
      ))}
    </li>
  );
}

function itemWords(item: ItemView): string {
  if (item.outcome !== "open") return item.outcome;
  return { slung: "waiting", hooked: "in work", done: "done" }[item.state];
}

const stateWords: Readonly<Record<AttemptView["state"], string>> = {
  due: "waits for a free agent",
  running: "running",
  suspended: "waits for a decision",
  executed: "worked, not yet verified",
  verifying: "being verified",
  merging: "being merged",
  done: "verified and merged",
  failed: "failed",
  crashed: "crashed",
  cancelled: "cancelled",
};

function Attempt({ attempt, newest }: { readonly attempt: AttemptView; readonly newest: boolean }) {
  return (
    <details className="attempt" open={newest}>
      <summary>
        Attempt {attempt.number}: {stateWords[attempt.state]}
        <span className="quiet">
          {attempt.agent !== null && (
            <>
              {" by "}
              <Shown text={attempt.agent} line />
            </>
          )}
          {took(attempt)}
        </span>
      </summary>
      {attempt.detail !== null && (
        <p className={attempt.error_code === null ? "kept" : "kept bad-text"}>
          {attempt.error_code !== null && <code>{attempt.error_code}</code>} <Shown text={attempt.detail} />
        </p>
      )}
      <Recoveries of={attempt.recoveries ?? []} />
      {attempt.started_at !== null && <AttemptOutput id={attempt.id} running={attempt.state === "running"} />}
      {attempt.patch !== null && <Files patch={attempt.patch} />}
      {attempt.verifications.map((verification, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: verifications are only ever added
        <Verification verification={verification} key={index} />
      ))}
    </details>
  );
}

/** What its loop did about being stuck, in its order. [WEB-84] */
function Recoveries({ of }: { readonly of: NonNullable<AttemptView["recoveries"]> }) {
  if (of.length === 0) return null;
  return (
    <ol className="recoveries" aria-label="Recoveries">
      {of.map((recovery, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: recoveries are only ever added
        <li key={index}>
          {recoveryWords(recovery)}{" "}
          <span className="quiet">
            <Shown text={recovery.detail} />
          </span>
        </li>
      ))}
    </ol>
  );
}

function took(attempt: AttemptView): string {
  if (attempt.started_at === null || attempt.ended_at === null) return "";
  return `, ${duration(Date.parse(attempt.ended_at) - Date.parse(attempt.started_at))}`;
}

function Files({ patch }: { readonly patch: NonNullable<AttemptView["patch"]> }) {
  if (patch.files.length === 0) return <p className="quiet">It changed no file.</p>;
  return (
    <div className="files">
      <p className="quiet">
        Changed {patch.files.length} {patch.files.length === 1 ? "file" : "files"}, {size(patch.bytes)}
      </p>
      <ul>
        {patch.files.map((file) => (
          <li key={file.path}>
            <span className={`change ${file.change}`}>{file.change}</span>{" "}
            <code>
              <Shown text={file.path} line />
            </code>
            {file.change === "modified" && file.old_mode !== file.mode && (
              <span className="bad-text">
                {" "}
                mode {file.old_mode} to {file.mode}
              </span>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
