/**
 * What an executor that thinks is told at first, and all it is told: its item, the rules of the repository, what was
 * said about this item, and what the scope remembers. Nothing of another item's. [MIND-*]
 */
import { type Assembled, assemble, type Piece } from "../../domain/context.ts";
import type { Taint } from "../../domain/message.ts";
import type { ExecutionOrder, MindOrder } from "../../domain/result.ts";
import { limits } from "../../limits.ts";
import type { Scene } from "../attempt-scene.ts";
import { memoryPieces } from "../memory-pieces.ts";
import { SandboxFailure } from "../ports.ts";
import { readProject } from "../project-files.ts";

export async function briefOf({ context, order, ports, sandbox }: Scene, mind: MindOrder): Promise<Assembled> {
  const { taint, task_id } = context.message;
  // Members wrote the base commit; what agents merged since may carry what the task has read.
  const trust = order.bundle_key === null ? "member" : taint;
  const project = await readProject(ports.sandboxes, sandbox, { skills: mind.skills, taint: trust });
  const query = `${order.title} ${mind.goal}`.slice(0, limits.brief_query_chars);
  const asker = { task_id: task_id ?? "", agent: context.agent, unasked: true } as const;
  const recalled = await ports.minds.recall(asker, query, limits.brief_memories);
  // What its own task left there tells of the other items: their titles, and what their agents found out.
  const found = recalled.filter((memory) => memory.task_id !== task_id);
  const files = await excerpts(ports.sandboxes, sandbox, mind.touches ?? [], taint);
  const pieces = [...project, ...itemPieces(order, mind, taint), ...memoryPieces(found), ...files];
  return assemble(pieces, limits.context_tokens);
}

function itemPieces(order: ExecutionOrder, mind: MindOrder, taint: Taint): Piece[] {
  const { allow } = mind;
  const excepted = mind.protect.flatMap((glob) => (glob.startsWith("!") ? [glob.slice(1)] : []));
  const kept = mind.protect.filter((glob) => !glob.startsWith("!"));
  const lines = [
    order.section.trim() === "" ? order.title : order.section,
    `The whole plan's goal: ${mind.goal}`,
    granted("You may use the tools", allow.tools),
    granted("You may change the files", allow.paths),
    granted("You may run the commands", allow.commands),
    granted("You may reach the hosts", allow.hosts),
    granted("These files define the checks and must stay as they are", kept),
    granted("Of those you may change all the same", excepted),
    mind.checks.length === 0
      ? "No check is run on the result."
      : `Your result is checked by running, in a clean checkout: ${mind.checks.map((argv) => argv.join(" ")).join("; ")}`,
  ];
  const text = lines.filter((line) => line !== "").join("\n\n");
  const source = "the approved plan";
  // A person approved these very bytes.
  const item: Piece = {
    kind: "item",
    title: order.title,
    text,
    taint: "owner",
    source,
    least_tokens: limits.brief_item_tokens,
  };
  // The runtime begins each with who said it: a person's words are for the agent to follow, an attempt's are not.
  const before = order.guidance.map((said): Piece => {
    if (said.startsWith(personSaid))
      return { kind: "item", title: "what a person said", text: said, taint: "owner", source: "a person" };
    return { kind: "item", title: "what came before", text: said, taint, source: "an earlier attempt", data: true };
  });
  const planner = (order.planner_guidance ?? []).join("\n\n");
  return [
    item,
    ...before,
    // Made from failures that were handed over as data: its headings are not ours, and no person has read it.
    ...(planner === ""
      ? []
      : [{ kind: "guidance", title: "", text: planner, taint, source: "the planner", data: true } as const]),
  ];
}
const personSaid = "A person said: ";
function granted(what: string, grants: readonly string[]): string {
  return grants.length === 0 ? "" : `${what}: ${grants.join(", ")}`;
}

/** Files that the item names as they are; what a pattern stands for is looked up by the agent itself. */
async function excerpts(
  sandboxes: Scene["ports"]["sandboxes"],
  sandbox: string,
  paths: readonly string[],
  taint: Taint,
): Promise<Piece[]> {
  const named = paths.filter((path) => !/[*?[{!]/.test(path)).slice(0, limits.brief_files);
  const pieces: Piece[] = [];
  for (const path of named) {
    const bytes = await unlessMissing(sandboxes.read(sandbox, path));
    const text = bytes === null ? null : new TextDecoder().decode(bytes.subarray(0, limits.brief_file_bytes));
    if (text === null || text.includes("\0")) continue;
    const cut = (bytes?.byteLength ?? 0) > limits.brief_file_bytes ? "\n[cut: read the file for the rest]" : "";
    pieces.push({ kind: "file", title: path, text: `${text}${cut}`, taint, source: "a file of the repository" });
  }
  return pieces;
}
async function unlessMissing(asked: Promise<Uint8Array>): Promise<Uint8Array | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof SandboxFailure && error.code === "bad_request") return null;
    throw error;
  }
}
