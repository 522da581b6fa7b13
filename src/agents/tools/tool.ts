/**
 * One tool: what a model is told of it, how its arguments are read, and what a call does. Whatever changes anything is
 * one command in the sandbox, which starts it at most once for a call; the rest only looks. [TOOL-*]
 */
import { z } from "zod";
import { whyNoForm } from "../../domain/call-form.ts";
import { canonicalJson } from "../../domain/canonical.ts";
import type { ReadArguments } from "../mind.ts";
import type { Remembered } from "../mind-bus.ts";
import type { ToolOffer } from "../models.ts";
import type { ExecSpec, Sandboxes, WebSearch } from "../ports.ts";
import type { Ended } from "../workspace.ts";

/** What a model is told of a call. */
export interface Told {
  readonly text: string;
  readonly is_error: boolean;
  /** Whatever others wrote stands in fences of its own. */
  readonly marked?: true;
}
/** How a command ended, with what it printed, cut to the limits. */
export interface Ran {
  readonly ended: Ended;
  readonly output: string;
}
/** What a tool that looks may use. */
export interface Hands {
  read: (path: string) => ReturnType<Sandboxes["read"]>;
  list: (path: string) => ReturnType<Sandboxes["list"]>;
  recall(query: string, limit: number): Promise<readonly Remembered[]>;
  readonly search: WebSearch | null;
}

interface Common {
  readonly name: string;
  /** It may be used in research too. */
  readonly reads_only: boolean;
  readonly offer: ToolOffer;
  read(args: unknown): ReadArguments;
  /** The command, made of the arguments alone; null where there is none, or when they are not the tool's. */
  spec(args: unknown): ExecSpec | null;
}
/** A command that its arguments name. */
export interface CommandTool extends Common {
  readonly does: "command";
  tell(args: unknown, ran: Ran): Told;
}
/** A command for which the workspace is looked at first: the command is then stored, and run as it was stored. */
export interface PreparedTool extends Common {
  readonly does: "prepared";
  prepare(args: unknown, hands: Hands): Promise<{ readonly spec: ExecSpec } | Told>;
  tell(args: unknown, ran: Ran): Told;
}
/** It looks, and starts nothing. */
export interface LookTool<H = Hands> extends Common {
  readonly does: "look";
  look(args: unknown, hands: H): Promise<Told>;
}
export type Tool = CommandTool | PreparedTool | LookTool;
export type Tools = ReadonlyMap<string, Tool>;

interface About<A extends z.ZodObject> {
  readonly name: string;
  readonly reads_only: boolean;
  readonly description: string;
  readonly arguments: A;
}

export function commandTool<A extends z.ZodObject>(
  about: About<A>,
  parts: { spec(args: z.infer<A>): ExecSpec; tell(args: z.infer<A>, ran: Ran): Told },
): CommandTool {
  const common = commonOf(about);
  return {
    ...common,
    does: "command",
    spec(args) {
      const read = common.parse(args);
      return read.ok ? parts.spec(read.value) : null;
    },
    tell: (args, ran) => parts.tell(about.arguments.parse(args), ran),
  };
}
export function preparedTool<A extends z.ZodObject>(
  about: About<A>,
  parts: {
    prepare(args: z.infer<A>, hands: Hands): Promise<{ readonly spec: ExecSpec } | Told>;
    tell(args: z.infer<A>, ran: Ran): Told;
  },
): PreparedTool {
  return {
    ...commonOf(about),
    does: "prepared",
    prepare: (args, hands) => parts.prepare(about.arguments.parse(args), hands),
    tell: (args, ran) => parts.tell(about.arguments.parse(args), ran),
  };
}
export function lookTool<A extends z.ZodObject, H = Hands>(
  about: About<A>,
  look: (args: z.infer<A>, hands: H) => Promise<Told>,
): LookTool<H> {
  return { ...commonOf(about), does: "look", look: (args, hands) => look(about.arguments.parse(args), hands) };
}

type Parsed<A extends z.ZodObject> =
  | { readonly ok: true; readonly value: z.infer<A> }
  | { readonly ok: false; readonly why: string };

function commonOf<A extends z.ZodObject>({ name, reads_only, description, arguments: schema }: About<A>) {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema);
  const parse = (args: unknown): Parsed<A> => {
    const given = withoutNulls(args, parameters.required ?? []);
    const read = schema.safeParse(given);
    if (!read.success) return { ok: false, why: whyNotThese(name, read.error, schema) };
    const odd = whyOdd(name, read.data);
    return odd === null ? { ok: true, value: read.data } : { ok: false, why: odd };
  };
  const offer: ToolOffer = { name, description, parameters };
  return { name, reads_only, offer, parse, read: parse, spec: (): ExecSpec | null => null };
}

/** Some providers make a model name every argument, and say null for those it leaves out. */
function withoutNulls(args: unknown, required: readonly string[]): unknown {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args;
  return Object.fromEntries(Object.entries(args).filter(([key, value]) => value !== null || required.includes(key)));
}

function whyNotThese(name: string, error: z.ZodError, schema: z.ZodObject): string {
  const problems = error.issues.slice(0, 5).map(({ path, message }) => {
    return path.length === 0 ? message : `"${path.join(".")}": ${message}`;
  });
  const keys = Object.keys(schema.shape);
  const takes = keys.length === 0 ? "no arguments" : keys.join(", ");
  return `These are not arguments of ${name}: ${problems.join("; ")}. It takes ${takes}.`;
}

/** What no runtime would take, told before it is asked. */
function whyOdd(name: string, value: unknown): string | null {
  let text: string;
  try {
    text = canonicalJson(value);
  } catch {
    return `The arguments of ${name} hold a broken character. Send them again without it.`;
  }
  const why = whyNoForm({ call_id: "", tool: name, arguments: text });
  return why === null ? null : `${name} was not called: ${why}.`;
}
