/** One call tried out against the policy in force: what it would be answered, by which rule, and why. [WEB-62] */
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { taints } from "../../../src/domain/message.ts";
import { trustRoles } from "../../../src/domain/policy-call.ts";
import { type Evaluation, type Tried, tryCall } from "../api/policy.ts";
import { Failure } from "../ui/notice.tsx";
import { Shown } from "../ui/shown.tsx";
import { taintWords } from "../ui/words.ts";

const answers = {
  run: ["auto_approve", "It would run."],
  ask: ["require_approval", "It would ask a person."],
  deny: ["deny", "It would be denied."],
} as const;

export function TryCall() {
  const [tool, setTool] = useState("");
  const [args, setArgs] = useState("{}");
  const [role, setRole] = useState("crew");
  const [taint, setTaint] = useState("owner");
  const [wrong, setWrong] = useState<string | null>(null);
  const trying = useMutation({ mutationFn: (tried: Tried) => tryCall(tried) });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (trying.isPending) return;
    const read = readJson(args);
    setWrong(read.ok ? null : read.why);
    if (read.ok) trying.mutate({ call: { tool: tool.trim(), args: read.value }, role, taint });
  };
  return (
    <section aria-labelledby="policy-try">
      <h2 id="policy-try">Try a call</h2>
      <p className="quiet">Nothing runs. It is answered without an approved plan's grant.</p>
      <form className="narrow task-form" onSubmit={submit}>
        <div className="pair">
          <div className="field">
            <label htmlFor="try-tool">Tool</label>
            <input
              id="try-tool"
              type="text"
              required
              maxLength={200}
              spellCheck={false}
              placeholder="shell_execute"
              value={tool}
              onChange={(event) => setTool(event.target.value)}
            />
          </div>
          <Choice label="Role" value={role} onChange={setRole} options={trustRoles.map((each) => [each, each])} />
        </div>
        <div className="field">
          <label htmlFor="try-args">Arguments, as JSON</label>
          <textarea
            id="try-args"
            rows={3}
            spellCheck={false}
            value={args}
            aria-invalid={wrong !== null}
            aria-describedby="try-wrong"
            onChange={(event) => setArgs(event.target.value)}
          />
          <p id="try-wrong" role="alert" className="bad-text">
            {wrong}
          </p>
        </div>
        <Choice
          label="Has read"
          value={taint}
          onChange={setTaint}
          options={taints.map((each) => [each, `${each}: ${taintWords[each].means}`])}
        />
        <div className="choices">
          <button type="submit" className="ink" aria-disabled={trying.isPending}>
            {trying.isPending ? "Asking…" : "Try it"}
          </button>
        </div>
        <div role="status">{trying.data !== undefined && <Answer answer={trying.data} />}</div>
        {trying.error !== null && <Failure error={trying.error} />}
      </form>
    </section>
  );
}

function Answer({ answer }: { readonly answer: Evaluation }) {
  const [setting, words] = answers[answer.decision];
  return (
    <div className="policy-answer">
      <p className={`answer-${setting}`}>{words}</p>
      <p>
        <code>
          <Shown text={answer.rule} line />
        </code>
        : <Shown text={answer.reason} line />
      </p>
      {answer.notes.map((note) => (
        <p className="quiet" key={note.gate}>
          Remark of <code>{note.gate}</code>: <Shown text={note.reason} line />
        </p>
      ))}
    </div>
  );
}

function Choice(props: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly (readonly [value: string, words: string])[];
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{props.label}</label>
      <select id={id} value={props.value} onChange={(event) => props.onChange(event.target.value)}>
        {props.options.map(([value, words]) => (
          <option value={value} key={value}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

export function readJson(
  text: string,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, why: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
