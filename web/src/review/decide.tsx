/**
 * The decision. Two steps, both by keyboard: open an answer, then confirm it. One answer is sent at a time,
 * a repeat carries the same Idempotency-Key, and it names the bytes that were shown. [WEB-6, WEB-7, WEB-8, WEB-9,
 * WEB-22]
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { freshKey, Problem } from "../api/client.ts";
import { type ApprovalView, type DecisionBody, type DecisionPath, decide } from "../api/queries.ts";
import { Failure } from "../ui/notice.tsx";
import { useShortcuts } from "../ui/shortcuts.tsx";
import { answers } from "../ui/words.ts";
import { Amount, amountOf, useAmount } from "./amount.tsx";

/** Long enough for the presses of one burst, too short to be felt by who reads before pressing again. */
const openedByBurstMs = 500;

interface DecideProps {
  readonly approval: ApprovalView;
  /** Why approving is not possible now; denying always is. */
  readonly blocked: string | null;
  /** Whether this person's role allows a decision at all. */
  readonly may: boolean;
}

export function Decide({ approval, blocked, may }: DecideProps) {
  if (may) return <Choices approval={approval} blocked={blocked} />;
  return (
    <section className="decide" aria-label="Your decision">
      <p className="blocked">Your role may read this card. Deciding it needs an approver.</p>
    </section>
  );
}

function Choices({ approval, blocked }: Omit<DecideProps, "may">) {
  const [open, setOpen] = useState<DecisionPath | null>(null);
  const openers = useRef<Partial<Record<DecisionPath, HTMLButtonElement | null>>>({});
  const isPlan = approval.kind === "plan";
  const choose = (path: DecisionPath): void => {
    if (path === "approve" && blocked !== null) return;
    setOpen(path);
  };
  const close = (): void => {
    if (open !== null) setTimeout(() => openers.current[open]?.focus());
    setOpen(null);
  };
  useShortcuts({
    a: () => choose("approve"),
    d: () => choose("deny"),
    ...(isPlan && approval.needs.revisions_left > 0 ? { r: () => choose("request-changes") } : {}),
  });
  const words = answers[approval.kind];

  const opener = (path: DecisionPath, label: string, className: string) => (
    <button
      type="button"
      className={className}
      ref={(element) => {
        openers.current[path] = element;
      }}
      disabled={path === "approve" && blocked !== null}
      onClick={() => choose(path)}
    >
      {label}
    </button>
  );
  return (
    <section className="decide" aria-label="Your decision">
      {blocked !== null && <p className="blocked">{blocked}</p>}
      {open === null ? (
        <div className="choices">
          {opener("approve", isPlan ? "Approve…" : `${words.approve}…`, "sign")}
          {isPlan && approval.needs.revisions_left > 0 && opener("request-changes", "Request changes…", "plain")}
          {opener("deny", `${words.deny}…`, "plain deny")}
        </div>
      ) : (
        <Answer approval={approval} path={open} onClose={close} key={open} />
      )}
    </section>
  );
}

interface AnswerProps {
  readonly approval: ApprovalView;
  readonly path: DecisionPath;
  readonly onClose: () => void;
}

function Answer({ approval, path, onClose }: AnswerProps) {
  const [text, setText] = useState("");
  const [stop, setStop] = useState(false);
  const amount = useAmount();
  const sending = useDecision(approval, path, onClose);
  const first = useRef<HTMLButtonElement & HTMLTextAreaElement>(null);
  const ids = useId();
  useEffect(() => first.current?.focus(), []);
  const words = answers[approval.kind];
  const saysNo = path !== "approve";
  // The second press of a hurried pair meets the confirmation that the first one opened. A no needs its words first.
  const late = useLater(openedByBurstMs);
  const tooSoon = !saysNo && !late;
  const added = approval.kind === "budget" && path === "approve" ? amountOf(amount.value) : null;
  const noAmount = approval.kind === "budget" && path === "approve" && added === null;
  const missing = (saysNo && text.trim() === "") || noAmount;

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (tooSoon) return;
    if (missing) {
      first.current?.focus();
      return;
    }
    const hash = { content_hash: approval.content_hash };
    if (path === "approve") {
      sending.send({
        ...hash,
        ...(text.trim() === "" ? {} : { comment: text.trim() }),
        ...(added === null ? {} : { amount: added }),
      });
    } else if (path === "deny") sending.send({ ...hash, reason: text.trim(), stop });
    else sending.send({ ...hash, reason: text.trim(), comments: [] });
  };
  const does =
    path === "approve"
      ? words.does
      : path === "deny"
        ? words.denies
        : "Nothing runs. The plan goes back with your words, and a new version comes to Review.";

  return (
    <form
      className={`answer ${path}`}
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !sending.busy) onClose();
      }}
    >
      <p id={`${ids}-does`}>{does}</p>
      {path === "approve" && <Summary approval={approval} />}
      {path === "approve" && approval.kind === "budget" && <Amount amount={amount} missing={noAmount} />}
      <label htmlFor={`${ids}-text`}>
        {path === "approve" ? "Comment (optional)" : path === "deny" ? "Reason" : "What should change"}
      </label>
      <textarea
        id={`${ids}-text`}
        rows={path === "approve" ? 1 : 3}
        maxLength={10_000}
        value={text}
        required={saysNo}
        ref={saysNo ? first : undefined}
        onChange={(event) => setText(event.target.value)}
      />
      {path === "deny" && approval.kind === "tool_call" && (
        <label className="check">
          <input type="checkbox" checked={stop} onChange={(event) => setStop(event.target.checked)} /> Also cancel the
          task
        </label>
      )}
      {sending.error !== null && <Failure error={sending.error} />}
      <div className="choices">
        <button
          type="submit"
          className={path === "approve" ? "sign" : "deny solid"}
          ref={saysNo ? undefined : first}
          aria-disabled={sending.busy || tooSoon}
          aria-describedby={`${ids}-does`}
          // The second half of a double click on the button that stood here before is not a decision.
          onClick={(event) => event.detail > 1 && event.preventDefault()}
          // Nor is a key held down.
          onKeyDown={(event) => event.repeat && event.preventDefault()}
        >
          {sending.busy ? "Sending…" : path === "approve" ? words.approve : path === "deny" ? words.deny : "Send back"}
        </button>
        <button type="button" className="plain" onClick={onClose} disabled={sending.busy}>
          Not yet
        </button>
      </div>
    </form>
  );
}

/** False at first, true once it has stood so long. */
function useLater(ms: number): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return late;
}

/** The few words to read last, when the whole card was long. */
function Summary({ approval }: { readonly approval: ApprovalView }) {
  const { items, publishes } = approval.card;
  if (items.length === 0) return null;
  const hosts = new Set(items.flatMap((item) => item.grants.hosts));
  const secrets = new Set(items.flatMap((item) => item.grants.secrets));
  const parts = [
    `${items.length} ${items.length === 1 ? "item" : "items"}`,
    hosts.size === 0 ? "network closed during work" : `network to ${hosts.size} ${hosts.size === 1 ? "host" : "hosts"}`,
    secrets.size === 0 ? "no secrets" : `${secrets.size} ${secrets.size === 1 ? "secret" : "secrets"}`,
    publishes === null ? "publishes nothing" : `publishes ${publishes}`,
  ];
  return <p className="summary">{parts.join(" · ")}</p>;
}

interface Sending {
  readonly send: (body: DecisionBody) => void;
  readonly busy: boolean;
  readonly error: unknown;
}

/** `onWaits`: it counts, and the card waits for another person. */
function useDecision(approval: ApprovalView, path: DecisionPath, onWaits: () => void): Sending {
  const client = useQueryClient();
  // A second press comes before React has drawn the first: state would be too late to stop it.
  const inFlight = useRef(false);
  const keys = useRef(new Map<string, string>());
  const refresh = (): Promise<unknown> =>
    Promise.all([
      client.invalidateQueries({ queryKey: ["approval", approval.id] }),
      client.invalidateQueries({ queryKey: ["approvals"] }),
      client.invalidateQueries({ queryKey: ["task", approval.task_id] }),
    ]);
  const mutation = useMutation({
    mutationFn: ({ body, key }: { body: DecisionBody; key: string }) => decide(approval.id, path, body, key),
    onSuccess: async (after) => {
      await refresh();
      if (after.status === "pending") return onWaits();
      setTimeout(() => document.getElementById("outcome")?.focus());
    },
    onError: async (error) => {
      if (!isOvertaken(error)) return;
      await refresh();
      setTimeout(() => (document.getElementById("outcome") ?? document.getElementById("card-title"))?.focus());
    },
    onSettled: () => {
      inFlight.current = false;
    },
  });
  const send = (body: DecisionBody): void => {
    if (inFlight.current || mutation.isSuccess) return;
    inFlight.current = true;
    // The same answer sent again after a lost reply is the same request; another answer is another.
    const text = JSON.stringify(body);
    const key = keys.current.get(text) ?? freshKey();
    keys.current.set(text, key);
    mutation.mutate({ body, key });
  };
  return {
    send,
    busy: mutation.isPending || mutation.isSuccess,
    error: isOvertaken(mutation.error) ? null : mutation.error,
  };
}

/** The card moved on before the answer arrived: the page shows what it is now instead of an error. */
function isOvertaken(error: unknown): boolean {
  return error instanceof Problem && (error.code === "content_changed" || error.code === "already_resolved");
}
