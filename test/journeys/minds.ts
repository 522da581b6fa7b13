/**
 * Scripted minds for journeys: which role a request is for, how far its conversation is, and how many calls of a model
 * the service says it made. Every answer names its usage, so that what it costs is known to the cent.
 */

import { page, type ThoughtView, taskView, thoughtView } from "../../src/domain/view.ts";
import type {
  JournalEntry,
  ModelServer,
  ScriptedAnswer,
  ScriptedFailure,
  ScriptedRequest,
} from "../setup/model-server.ts";
import { openRoad, type Road } from "./road.ts";

export type Mind = "route" | "status" | "planner" | "consult" | "research" | "executor";
export type Play = (request: ScriptedRequest) => ScriptedAnswer;
export const usage = { input: 1_000, output: 40 };

/** Told by the tools that are offered: each role has one that no other has. */
export function mindOf(tools: readonly string[]): Mind {
  if (tools.includes("finish")) return "executor";
  if (tools.includes("submit_plan")) return "planner";
  if (tools.includes("guide")) return "consult";
  if (tools.includes("route")) return tools.includes("memory_search") ? "route" : "status";
  return "research";
}
export function call(tool: string, args: Readonly<Record<string, unknown>> = {}, words?: string): ScriptedAnswer {
  return { calls: [{ tool, arguments: args }], usage, ...(words === undefined ? {} : { words }) };
}
/** A conversation that is the same whatever it is told: one call after the other. */
export function inOrder(...answers: readonly ScriptedAnswer[]): Play {
  return (request) => {
    const made = request.messages.flatMap(({ calls }) => calls).length;
    return answers[made] ?? { fails: "status", status: 400, message: `nothing was written for call ${made + 1}` };
  };
}
/** Each mind as it is written; a status is said in words that nobody mistakes for a template's. */
export function minds(plays: Partial<Record<Mind, Play>>): Play {
  return (request) => {
    const mind = mindOf(request.tools);
    const play = plays[mind] ?? (mind === "status" ? () => saysStatus : null);
    return play?.(request) ?? { fails: "status", status: 400, message: `nothing was written for the ${mind}` };
  };
}
export const statusWords = "In other words: the runtime has told me how it stands.";
const saysStatus = call("route", { route: "direct", message: statusWords });

/** The tools that a recorded request offers, in whichever format it was made. */
export function offeredIn({ body }: JournalEntry): string[] {
  return body.tools.map((tool) => tool.name ?? tool.function?.name ?? "");
}
export function madeBy(journal: readonly JournalEntry[], mind: Mind): JournalEntry[] {
  return journal.filter((entry) => mindOf(offeredIn(entry)) === mind);
}

/** The texts of a body that stand outside of every data block, and those inside with the taint they are marked with. */
export function fences({ body }: JournalEntry): { outside: string; inside: { taint: string; text: string }[] } {
  const texts: string[] = [];
  JSON.stringify(body, (_, value: unknown) => {
    if (typeof value === "string") texts.push(value);
    return value;
  });
  const inside: { taint: string; text: string }[] = [];
  const outside = texts
    .join("\n")
    .replace(/<data-([0-9a-f]{12}) taint="(\w+)" source="[^"]*">\n([\s\S]*?)\n<\/data-\1>/g, (_, __, taint, text) => {
      inside.push({ taint, text });
      return "";
    });
  return { outside, inside };
}

export const keys = { anthropic: "sk-ant-journey-5f1c02aa9e", openai: "sk-openai-journey-77d0be31c4" } as const;
/** First choices: their prices are known. */
export const models = {
  proxy: "anthropic/claude-haiku-4-5",
  planner: "anthropic/claude-sonnet-4-6",
  executor: "openai/gpt-5.4",
} as const;
export const second = { planner: "anthropic/claude-haiku-4-5", executor: "openai/gpt-5.4-mini" } as const;

/** Proxy and planner in Anthropic's format, the executor in OpenAI's, all of them at the loopback server. */
export function openMinded(server: ModelServer): Promise<Road> {
  const env = {
    ...{ MODEL_PROXY: models.proxy, MODEL_PLANNER: `${models.planner},${second.planner}` },
    ...{ MODEL_EXECUTOR: `${models.executor},${second.executor}` },
    ...{ ANTHROPIC_API_KEY: keys.anthropic, ANTHROPIC_BASE_URL: server.anthropicUrl },
    ...{ OPENAI_API_KEY: keys.openai, OPENAI_BASE_URL: server.url },
  };
  return openRoad({ env });
}

/** The requests of a mind fail in the order that is written for it; `null` is one that does not. */
export function failing(play: Play, failures: Partial<Record<Mind, readonly (ScriptedFailure | null)[]>>): Play {
  const asked = new Map<Mind, number>();
  return (request) => {
    const mind = mindOf(request.tools);
    const count = asked.get(mind) ?? 0;
    asked.set(mind, count + 1);
    return failures[mind]?.[count] ?? play(request);
  };
}

export async function wish(road: Road, title: string, description = ""): Promise<string> {
  const body = { title, description, repo: { url: road.repo.url, ref: "main" } };
  return (await road.client.post("/api/tasks", body, taskView)).id;
}
export async function thoughts(road: Road, id: string): Promise<ThoughtView[]> {
  return (await road.client.get(`/api/tasks/${id}/thoughts?limit=200`, page(thoughtView))).items;
}
/** The service's words to the person, oldest first. */
export async function told(road: Road, id: string): Promise<string[]> {
  const events = await road.events(id);
  return events.filter(({ message_kind }) => message_kind === "agent_message").map(({ detail }) => detail ?? "");
}

/** A promise that the journey keeps when it likes. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
