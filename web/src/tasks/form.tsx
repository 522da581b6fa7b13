/** Asks for a task. A plan that does not hold is shown with its problems at their lines. [WEB-12] */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import { freshKey, isRecord, Problem } from "../api/client.ts";
import { createTask, repos, type TaskInput } from "../api/queries.ts";
import { navigate } from "../route.tsx";
import { Failure } from "../ui/notice.tsx";
import { examplePlan } from "./example.ts";
import { PlanEditor, type PlanProblem } from "./plan-editor.tsx";

interface Fields {
  readonly title: string;
  readonly description: string;
  readonly url: string;
  readonly ref: string;
  readonly plan: string;
}
const blank: Fields = { title: "", description: "", url: "", ref: "", plan: "" };

export function NewTaskPage() {
  const [fields, setFields] = useState(blank);
  const known = useQuery({ ...repos, retry: false }).data ?? [];
  const sending = useCreate();
  const set = (name: keyof Fields) => (text: string) => setFields({ ...fields, [name]: text });
  const problems = planProblems(sending.error);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    sending.send(inputOf(fields));
  };
  return (
    <form className="narrow task-form" onSubmit={submit}>
      <h1>New task</h1>
      <Field label="Title" value={fields.title} onChange={set("title")} required maxLength={200} />
      <div className="pair">
        <Field
          label="Repository"
          value={fields.url}
          onChange={set("url")}
          required
          list="repos"
          placeholder="https://… or file:///…"
          note="Its address. It must be registered with this scope."
        />
        <Field
          label="Branch, tag or commit"
          value={fields.ref}
          onChange={set("ref")}
          placeholder="HEAD"
          note="Where the work starts from."
        />
      </div>
      <datalist id="repos">
        {known.map((repo) => (
          <option value={repo.url} key={repo.url} />
        ))}
      </datalist>
      <div className="field">
        <label htmlFor="description">What should change, in your words (optional)</label>
        <textarea
          id="description"
          rows={3}
          maxLength={20_000}
          value={fields.description}
          onChange={(event) => set("description")(event.target.value)}
        />
      </div>
      <PlanEditor value={fields.plan} onChange={set("plan")} problems={problems}>
        {fields.plan === "" && (
          <button type="button" className="small plain" onClick={() => set("plan")(examplePlan)}>
            Begin with an example
          </button>
        )}
      </PlanEditor>
      {sending.error !== null && problems.length === 0 && <Failure error={sending.error} />}
      <FieldErrors error={sending.error} />
      <div className="choices">
        <button type="submit" className="ink" aria-disabled={sending.busy}>
          {sending.busy ? "Sending…" : "Ask for it"}
        </button>
        <p className="quiet">Nothing runs before somebody countersigns its plan.</p>
      </div>
    </form>
  );
}

function inputOf(fields: Fields): TaskInput {
  const plan = fields.plan.trim() === "" ? {} : { plan: fields.plan };
  return {
    title: fields.title.trim(),
    description: fields.description,
    repo: { url: fields.url.trim(), ref: fields.ref.trim() === "" ? "HEAD" : fields.ref.trim() },
    labels: [],
    ...plan,
  };
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly required?: boolean;
  readonly maxLength?: number;
  readonly list?: string;
  readonly placeholder?: string;
  readonly note?: string;
}

function Field({ label, value, onChange, note, ...rest }: FieldProps) {
  const id = `field-${label.toLowerCase().replace(/\W+/g, "-")}`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="text"
        value={value}
        spellCheck={false}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
        onChange={(event) => onChange(event.target.value)}
        {...rest}
      />
      {note !== undefined && (
        <p id={`${id}-note`} className="quiet">
          {note}
        </p>
      )}
    </div>
  );
}

function useCreate() {
  const client = useQueryClient();
  const inFlight = useRef(false);
  const keys = useRef(new Map<string, string>());
  const mutation = useMutation({
    mutationFn: ({ input, key }: { input: TaskInput; key: string }) => createTask(input, key),
    onSuccess: (task) => {
      void client.invalidateQueries({ queryKey: ["tasks"] });
      navigate(`/tasks/${encodeURIComponent(task.id)}`);
    },
    onSettled: () => {
      inFlight.current = false;
    },
  });
  const send = (input: TaskInput): void => {
    if (inFlight.current) return;
    inFlight.current = true;
    const text = JSON.stringify(input);
    const key = keys.current.get(text) ?? freshKey();
    keys.current.set(text, key);
    mutation.mutate({ input, key });
  };
  return { send, busy: mutation.isPending, error: mutation.error };
}

function planProblems(error: unknown): readonly PlanProblem[] {
  if (!(error instanceof Problem) || error.code !== "invalid_plan" || !Array.isArray(error.fields.problems)) return [];
  return error.fields.problems.filter(isRecord).map((found) => ({
    line: Number(found.line) || 1,
    column: Number(found.column) || 1,
    message: String(found.message ?? ""),
  }));
}

/** With `bad_request` the service names the fields that are wrong. */
function FieldErrors({ error }: { readonly error: unknown }) {
  if (!(error instanceof Problem) || !Array.isArray(error.fields.errors)) return null;
  const errors = error.fields.errors.filter(isRecord);
  return (
    <ul className="bad-text">
      {errors.map((found) => (
        <li key={`${found.path} ${found.message}`}>
          <code>{String(found.path)}</code> {String(found.message)}
        </li>
      ))}
    </ul>
  );
}
