/**
 * How a forbidden call is written down. `opens`: where it runs all the same, because just that was allowed: `grant`, a
 * plan that grants every tool, path and command; `auto`, a policy that lets every tool run that it does not deny.
 */
import { canonicalJson } from "../../../src/domain/canonical.ts";
import type { JsonValue } from "../../../src/domain/message.ts";

export type Opening = "grant" | "auto";
export interface Forbidden {
  readonly name: string;
  readonly tool: string;
  readonly arguments: string;
  readonly opens: readonly Opening[];
}
export interface Family {
  readonly family: string;
  readonly calls: readonly Forbidden[];
}

export function raw(name: string, of: string, text: string, ...opens: readonly Opening[]): Forbidden {
  return { name, tool: of, arguments: text, opens };
}
export function tool(of: string, args: JsonValue, ...opens: readonly Opening[]): Forbidden {
  const text = canonicalJson(args);
  return raw(`${of} ${text}`, of, text, ...opens);
}
export function sh(command: string, ...opens: readonly Opening[]): Forbidden {
  return raw(command, "shell_execute", canonicalJson({ command }), ...opens);
}
export function file(of: string, path: string, ...opens: readonly Opening[]): Forbidden {
  return raw(`${of} ${path}`, of, canonicalJson({ content: "x", path }), ...opens);
}
