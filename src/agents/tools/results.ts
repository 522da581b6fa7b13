/** What a model is told of a command that ended: how, what it printed within bounds, and what to do about it. [TOOL-11] */
import { byteLength } from "../../domain/canonical.ts";
import { limits } from "../../limits.ts";
import type { Sandboxes } from "../ports.ts";
import { type Ended, withoutControls } from "../workspace.ts";
import type { Ran, Told } from "./tool.ts";

/** The beginning and the end of what a call printed; what lies between is left out, and said. `bytes` is all it printed. */
export async function printed(
  sandboxes: Pick<Sandboxes, "wait">,
  sandbox: string,
  call_id: string,
  bytes: number,
): Promise<string> {
  const { tool_head_bytes: head, tool_tail_bytes: tail } = limits;
  const from = async (offset: number) => (await sandboxes.wait(sandbox, call_id, offset, 0)).chunk;
  if (bytes <= head + tail) return shown((await from(0)).subarray(0, bytes));
  const first = shown((await from(0)).subarray(0, head));
  const last = shown((await from(bytes - tail)).subarray(0, tail));
  return `${first}\n[... ${bytes - head - tail} bytes left out here: print less, or filter it with grep, head or tail ...]\n${last}`;
}

/**
 * The same for the gates after a step: what it printed as it is, unseen characters too, its two ends where it is long.
 * The ends meet in a line of their own, so that what stands across the cut is not one word.
 */
export async function saidBy(
  sandboxes: Pick<Sandboxes, "wait">,
  sandbox: string,
  call_id: string,
  bytes: number,
): Promise<string> {
  if (bytes === 0) return "";
  const { said_bytes: most } = limits;
  const from = async (offset: number) => (await sandboxes.wait(sandbox, call_id, offset, 0)).chunk;
  const text = (chunk: Uint8Array) => new TextDecoder().decode(chunk);
  const first = (await from(0)).subarray(0, Math.min(bytes, 2 * most));
  if (bytes <= 2 * most && first.byteLength === bytes) return text(first);
  const last = (await from(Math.max(0, bytes - most))).subarray(0, most);
  return `${text(first.subarray(0, most))}\n...\n${text(last)}`;
}

/** As text without terminal colours, and without the halves of characters that a cut leaves. */
function shown(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  return withoutControls(text)
    .replace(/^\uFFFD{1,3}|\uFFFD$/g, "")
    .replaceAll("\0", "\\0");
}

export function told(text: string): Told {
  return { text, is_error: false };
}
export function failed(text: string): Told {
  return { text, is_error: true };
}

/** Of a command that the model wrote itself. */
export function tellRun(what: string, { ended, output }: Ran): Told {
  const body = output.trim() === "" ? "It printed nothing." : output;
  const head = howEnded(what, ended);
  const advice = adviceOn(ended, output);
  const text = [head, body, ...(advice === null ? [] : [advice])].join("\n");
  return { text, is_error: ended.state !== "exited" || ended.exit_code !== 0 };
}

function howEnded(what: string, ended: Ended): string {
  switch (ended.state) {
    case "exited": {
      const signal = ended.signal === null ? "" : `, by ${ended.signal}`;
      return `${what} ended with exit code ${ended.exit_code}${signal}, after ${seconds(ended.duration_ms)}.`;
    }
    case "timed_out":
      return `${what} was still running after ${seconds(ended.duration_ms)} and was ended.`;
    case "never_started":
      return `${what} could not be started: ${ended.reason}.`;
    case "unknown":
      return `What became of ${what} is not known.`;
  }
}

function adviceOn(ended: Ended, output: string): string | null {
  if (ended.state === "timed_out")
    return "Do less in one call, or give it a larger timeout_ms. Nothing keeps running between two calls.";
  if (ended.state === "never_started") return "Nothing was run. Look at the program's name, its folder and cwd.";
  if (ended.state !== "exited" || ended.exit_code === 0) return null;
  if (ended.exit_code === 127) return "A program was not found. Use one that is there; there is no network.";
  if (ended.exit_code === 137) return "It was killed: it may have used too much memory.";
  if (/permission denied/i.test(output)) return "Something may not be read or run. See its mode with ls -l.";
  return null;
}
function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** The first characters that fit, whole lines where it can be. */
export function firstChars(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max).toWellFormed()} [... ${text.length - max} characters more]`;
}
/** Whether a text is small enough to be written in one call. */
export function whyTooLarge(content: string): string | null {
  const bytes = byteLength(JSON.stringify(content));
  if (bytes <= limits.tool_file_bytes) return null;
  return `${bytes} bytes are more than one call writes (${limits.tool_file_bytes}). Make it in parts with shell_execute.`;
}
