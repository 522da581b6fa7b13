/** What the page says when there is nothing, not yet something, or something wrong; always with what to do. */
import type { ReactNode } from "react";
import { Problem } from "../api/client.ts";
import { Shown } from "./shown.tsx";

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className="quiet loading" role="status">
      Loading {what}…
    </p>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

type Tone = "plain" | "warn" | "bad" | "good";

export function Notice(props: {
  readonly tone: Tone;
  readonly title: string;
  readonly children?: ReactNode;
  readonly alert?: boolean;
}) {
  return (
    <div className={`notice ${props.tone}`} role={props.alert ? "alert" : undefined}>
      <p className="notice-title">{props.title}</p>
      {props.children}
    </div>
  );
}

export function Failure({ error, again }: { readonly error: unknown; readonly again?: () => void }) {
  const { title, detail, advice } = inWords(error);
  return (
    <Notice tone="bad" title={title} alert>
      <p>
        <Shown text={detail} /> {advice}
      </p>
      {again !== undefined && (
        <button type="button" className="plain" onClick={again}>
          Try again
        </button>
      )}
    </Notice>
  );
}

const advised: Readonly<Record<string, readonly [title: string, advice: string]>> = {
  unreachable: ["The service cannot be reached", "Check that it is running (npm start), then try again."],
  forbidden: ["Your role does not allow this", "Ask an admin of this scope, or sign in as somebody who may."],
  unauthenticated: ["You are not signed in", "Open a new sign-in link."],
  task_not_found: ["There is no such task", "It may belong to another scope. Look in the list of tasks."],
  approval_not_found: ["There is no such card", "It may belong to another scope. Look in the list of cards."],
  standing_approval_not_found: [
    "There is no such standing approval",
    "It may belong to another scope. Look in the list.",
  ],
  memory_not_found: ["There is no such memory", "It may belong to another scope. Search again."],
  queue_not_found: ["There is no such queue", "It may belong to another scope. Look in the list of queues."],
  dead_letter_not_found: ["There is no such letter", "Look at the queue again: it may have gone on."],
  not_in_this_state: ["It has changed meanwhile", "Look at it again as it stands now."],
  body_too_large: ["That is too large", "Make it smaller and send it again."],
  too_many: ["Too many requests", "Wait a moment, then try again."],
  unavailable: ["A part of the service is not available", "Try again in a moment."],
  newer_data: ["The stored data is newer than this service", "Update the service, then try again."],
  invalid_plan: ["The plan has problems", ""],
};

export function inWords(error: unknown): { title: string; detail: string; advice: string } {
  if (!(error instanceof Problem))
    return { title: "The page failed", detail: String(error), advice: "Reload the page." };
  const [title, advice] = advised[error.code] ?? [
    error.status >= 500 ? "The service failed" : "The service said no",
    "",
  ];
  const trace = typeof error.fields.trace_id === "string" ? ` Its trace is ${error.fields.trace_id}.` : "";
  return { title, detail: error.message, advice: error.status >= 500 ? `${advice}${trace}`.trim() : advice };
}
