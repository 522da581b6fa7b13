/**
 * A change of the policy: the document as JSON, its problems by their place, and what it changes before it is put in
 * force for exactly the version it was made from. [WEB-63]
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useMemo, useRef, useState } from "react";
import { type Policy, policySchema } from "../../../src/domain/policy.ts";
import { diffPolicies } from "../../../src/domain/policy-change.ts";
import { readPolicy } from "../../../src/domain/policy-document.ts";
import type { PolicyMove } from "../../../src/domain/policy-shapes.ts";
import { call, Problem } from "../api/client.ts";
import { changePolicy, type PolicyView } from "../api/policy.ts";
import { Failure, Notice } from "../ui/notice.tsx";
import { Shown } from "../ui/shown.tsx";
import { readJson } from "./try.tsx";

interface EditorProps {
  readonly from: PolicyView;
  readonly onClose: () => void;
}

type Reading =
  | { readonly ok: true; readonly policy: Policy; readonly moves: readonly PolicyMove[] }
  | { readonly ok: false; readonly problems: readonly { readonly path: string; readonly message: string }[] };

export function PolicyEditor({ from, onClose }: EditorProps) {
  const client = useQueryClient();
  const area = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(() => JSON.stringify(from.policy, null, 2));
  const [reason, setReason] = useState("");
  /** What the change is made from. What comes into force meanwhile does not take its place by itself. */
  const [base, setBase] = useState(from);
  const reading = useMemo(() => read(text, base), [text, base]);
  useEffect(() => area.current?.focus(), []);
  const saving = useMutation({
    mutationFn: (policy: Policy) => changePolicy(policy, reason.trim(), base.policy_hash),
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries({ queryKey: ["policy"] }),
  });
  const refused = saving.error instanceof Problem ? saving.error : null;
  const meanwhile = refused?.code === "precondition_failed" ? refused : null;
  const again = useMutation({
    mutationFn: () => call<PolicyView>("/api/policy"),
    onSuccess: (now) => {
      setBase(now);
      saving.reset();
      area.current?.focus();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!saving.isPending && reading.ok && reading.moves.length > 0) saving.mutate(reading.policy);
  };
  return (
    <form className="policy policy-edit" onSubmit={submit} aria-labelledby="policy-edit">
      <h1 id="policy-edit">Change the policy</h1>
      <p className="quiet">
        Made from version {base.version}. It counts from the next call on, also for what was approved before.
      </p>
      <div className="field">
        <label htmlFor="policy-text">The whole policy, as JSON</label>
        <textarea
          id="policy-text"
          ref={area}
          rows={20}
          wrap="off"
          spellCheck={false}
          value={text}
          aria-invalid={!reading.ok}
          aria-describedby="policy-reading"
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <div id="policy-reading" aria-live="polite">
        {reading.ok ? <Moves moves={reading.moves} /> : <Problems problems={reading.problems} />}
      </div>
      <div className="field">
        <label htmlFor="policy-reason">Reason (optional)</label>
        <input
          id="policy-reason"
          type="text"
          maxLength={2_000}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </div>
      {meanwhile !== null ? (
        <Notice tone="warn" title="It was changed meanwhile" alert>
          <p>
            <Shown text={meanwhile.message} />
          </p>
          <button type="button" className="plain" onClick={() => again.mutate()}>
            Compare my text with what is in force now
          </button>
        </Notice>
      ) : (
        saving.error !== null && <Failure error={saving.error} />
      )}
      {again.error !== null && <Failure error={again.error} />}
      <div className="choices">
        <button
          type="submit"
          className="ink"
          aria-disabled={saving.isPending || !reading.ok || reading.moves.length === 0}
        >
          {saving.isPending ? "Saving…" : "Put it in force"}
        </button>
        <button type="button" className="plain" onClick={onClose} disabled={saving.isPending}>
          Not now
        </button>
      </div>
    </form>
  );
}

function read(text: string, base: PolicyView): Reading {
  const json = readJson(text);
  if (!json.ok) return { ok: false, problems: [{ path: "", message: json.why }] };
  const asked = readPolicy(json.value);
  if (!asked.ok) return asked;
  const before = policySchema.safeParse(base.policy);
  const newer = "this page does not know all the rules in force: reload it, or use the command line";
  if (!before.success) return { ok: false, problems: [{ path: "", message: newer }] };
  return { ok: true, policy: asked.policy, moves: diffPolicies(before.data, asked.policy) };
}

function Problems({ problems }: { readonly problems: readonly { path: string; message: string }[] }) {
  return (
    <ul className="bad-text policy-problems">
      {problems.map(({ path, message }) => (
        <li key={`${path} ${message}`}>
          {path !== "" && (
            <>
              <code>
                <Shown text={path} line />
              </code>
              {": "}
            </>
          )}
          <Shown text={message} line />
        </li>
      ))}
    </ul>
  );
}

function Moves({ moves }: { readonly moves: readonly PolicyMove[] }) {
  if (moves.length === 0) return <p className="quiet">Nothing changes yet.</p>;
  return (
    <>
      <p>What changes:</p>
      <ul className="policy-rules">
        {moves.map(({ path, before, after }) => (
          <li key={path}>
            <code>
              <Shown text={path} line />
            </code>
            <span className="policy-params">
              <Side text={before} /> → <Side text={after} />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
function Side({ text }: { readonly text: string | null }) {
  return text === null ? <span className="quiet">nothing</span> : <Shown text={text} line />;
}
