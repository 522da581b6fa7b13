/** A call as a model wrote it, read against the tools that are offered: what is run, or what the model is told instead. */
import { byteLength } from "../domain/canonical.ts";
import { alternativesTo, renamedArguments } from "../domain/tool-names.ts";
import { visibleLine } from "../domain/visible.ts";
import { limits } from "../limits.ts";
import type { MindTool } from "./mind.ts";
import type { ModelCall } from "./models.ts";
import { firstOf, lastOf } from "./workspace.ts";

export type ReadCall =
  /** `notice`: it is run otherwise than it was written, and the model should know. */
  | { readonly kind: "good"; readonly tool: MindTool; readonly value: unknown; readonly notice: string | null }
  | { readonly kind: "unknown" | "malformed" | "keyed"; readonly why: string };

const shapeChars = 2_000;
const namesShown = 40;
const keyed =
  "The call was not run: a key of this deployment stood in it, and no tool is given one. Call again without it.";

export function readCall(call: ModelCall, tools: readonly MindTool[]): ReadCall {
  if (call.holds_key === true) return { kind: "keyed", why: keyed };
  const named = tools.find(({ offer }) => offer.name === call.tool);
  const args = parsed(call.arguments);
  if (named !== undefined) {
    if (!args.ok) return { kind: "malformed", why: malformed(named, `are not JSON (${args.why})`) };
    const read = readWell(named, args.value);
    if (read.ok) return { kind: "good", tool: named, value: read.value, notice: read.renamed };
    return { kind: "malformed", why: malformed(named, `are not what it takes: ${read.why}`) };
  }
  const meant = alternativesTo(
    call.tool,
    tools.map(({ offer }) => offer.name),
  ).flatMap((name) => tools.find(({ offer }) => offer.name === name) ?? []);
  const fitting = meant.flatMap((tool) => {
    const read = args.ok && !tool.ends ? readWell(tool, args.value) : null;
    return read?.ok === true ? [{ tool, value: read.value }] : [];
  });
  const [fit] = fitting;
  if (fit !== undefined && fitting.length === 1) {
    const notice = `There is no tool "${visibleLine(call.tool)}": "${fit.tool.offer.name}" was taken instead. Call it by that name.`;
    return { kind: "good", ...fit, notice };
  }
  return { kind: "unknown", why: unknown(call.tool, meant, tools) };
}

function parsed(text: string): { ok: true; value: unknown } | { ok: false; why: string } {
  try {
    return { ok: true, value: text.trim() === "" ? {} : JSON.parse(text) };
  } catch (error) {
    return { ok: false, why: error instanceof Error ? firstOf(error.message, 200) : "it does not parse" };
  }
}
/** As they are, else with the names the tool takes in the place of others' words for the same. */
function readWell(tool: MindTool, args: unknown) {
  const read = tool.read(args);
  if (read.ok) return { ...read, renamed: null };
  const properties: unknown = tool.offer.parameters.properties;
  const takes = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  const other = renamedArguments(args, takes);
  const again = other === null ? read : tool.read(other);
  const renamed = `Its arguments were taken as ${Object.keys(other ?? {}).join(", ")}. Use these names.`;
  return again.ok ? { ...again, renamed } : read;
}

function malformed(tool: MindTool, why: string): string {
  const { name } = tool.offer;
  return `The call was not run: the arguments of ${name} ${why}. ${shapeOf(tool)} Call ${name} again in that form.`;
}
function unknown(called: string, meant: readonly MindTool[], tools: readonly MindTool[]): string {
  const [one] = meant;
  const name = visibleLine(called);
  if (one === undefined)
    return `There is no tool "${name}" here, and none that does the same: the call was skipped. ${offered(tools)}`;
  const names = meant.map(({ offer }) => offer.name).join(" or ");
  const shape = meant.length === 1 ? ` ${shapeOf(one)}` : "";
  return `There is no tool "${name}" here: nothing was run. Use ${names}.${shape}`;
}
function shapeOf({ offer }: MindTool): string {
  return `${offer.name} takes: ${firstOf(JSON.stringify(offer.parameters), shapeChars)}.`;
}
export function offered(tools: readonly MindTool[]): string {
  const names = tools.map(({ offer }) => offer.name);
  return `Call one of: ${names.slice(0, namesShown).join(", ")}.`;
}

/** Room for the words that say how much is missing. */
const noticeBytes = 200;

/** A result no longer than a model is given, its first and its last part, and how much is missing between them. */
export function bounded(text: string): string {
  const whole = text.toWellFormed();
  const bytes = byteLength(whole);
  if (bytes <= limits.tool_result_bytes) return whole;
  const room = limits.tool_result_bytes - noticeBytes;
  // As many characters as bytes at most: a text of wide characters is halved until it fits.
  for (let chars = room; chars > 1; chars = Math.floor(chars / 2)) {
    const head = whole.slice(0, Math.floor(chars / 3)).toWellFormed();
    const tail = lastOf(whole, chars - Math.floor(chars / 3));
    if (byteLength(head) + byteLength(tail) > room) continue;
    const gone = bytes - byteLength(head) - byteLength(tail);
    return `${head}\n[... ${gone} of ${bytes} bytes left out here; ask for a smaller part to see them ...]\n${tail}`;
  }
  return `[${bytes} bytes left out]`;
}
