/**
 * What the proxy and the planner may look up: the scope's memory, its recent tasks, the web. Each use is asked of the
 * runtime first, under one name, so that it is on record once; what comes back is marked as data. [USE-*] [PRX-*]
 */
import { z } from "zod";
import { canonicalJson } from "../domain/canonical.ts";
import { asData } from "../domain/context.ts";
import { joinTaint } from "../domain/message.ts";
import type { MindTool, ToolMove } from "./mind.ts";
import type { PastTask } from "./mind-bus.ts";
import { ownTool, refusedCall, told } from "./own-tools.ts";
import type { Ports } from "./step.ts";
import * as crew from "./tools/lookups.ts";

/** The crew's own tools, so that a search is the same whoever makes it. */
export const memorySearch = mindTool(crew.memorySearch);
export const webSearch = mindTool(crew.webSearch);
export const contextInspect = ownTool(
  "context_inspect",
  "Lists the scope's most recent tasks: what was asked for, and how far each is.",
  z.strictObject({}),
);
function mindTool({ offer, read }: Pick<MindTool, "offer" | "read">): MindTool {
  return { offer, read, ends: false };
}

export interface LooksUp {
  readonly task_id: string;
  readonly run_id: string;
  readonly agent: string;
}
export interface LookUpCall {
  /** Names the use on record: the same one is recorded once. */
  readonly use_id: string;
  readonly tool: string;
  readonly value: unknown;
}

/** Null for a tool that is none of these. */
export async function lookUp(by: LooksUp, call: LookUpCall, ports: Ports): Promise<ToolMove | null> {
  const search = [crew.memorySearch, crew.webSearch].find(({ name }) => name === call.tool);
  if (search === undefined && call.tool !== contextInspect.offer.name) return null;
  const use = { ...by, call_id: call.use_id, tool: call.tool, arguments: canonicalJson(call.value) };
  const may = await ports.minds.mayUse(use);
  if (may.answer === "refused") return refusedCall(`Refused: ${may.reason}. Go on without it.`);
  if (search === undefined) return told(recentTasks(await ports.minds.history(by)));
  const finds: crew.Finds = {
    recall: (query, limit) => ports.minds.recall(by, query, limit),
    search: ports.search,
  };
  const { text, is_error } = await search.look(call.value, finds);
  return { kind: "result", text, is_error };
}

export function recentTasks(past: readonly PastTask[]): string {
  if (past.length === 0) return "There are no other tasks in this scope.";
  return asData(taskLines(past), { taint: taintOf(past), source: "recent tasks" });
}
export function taskLines(past: readonly PastTask[]): string {
  const lines = past.map(
    ({ at, status, phase, title }) => `${at} ${status}${phase === null ? "" : ` (${phase})`}: ${title}`,
  );
  return lines.join("\n");
}
export function taintOf(past: readonly PastTask[]): PastTask["taint"] {
  return joinTaint(...past.map(({ taint }) => taint));
}
