/** What every command is given and gives back; the exit codes scripts rely on. [CLI-4] */
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { limits } from "../limits.ts";
import type { Client } from "./client.ts";
import { UsageError } from "./target.ts";

/** 0 what was asked is done; 1 it failed; 2 it was asked wrongly; 3 it waits for a person. */
export const exit = { done: 0, failed: 1, usage: 2, waiting: 3 } as const;
export type ExitCode = (typeof exit)[keyof typeof exit];

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Null when no person sits there to ask. */
  readonly ask: ((question: string) => Promise<string>) | null;
  readonly cwd: string;
  /** What is piped in. */
  readonly input?: AsyncIterable<Uint8Array>;
  /** Calls back on Ctrl-C until what it returns is called. Without it the program just ends. */
  readonly onInterrupt?: (stop: () => void) => () => void;
}

export interface Command {
  readonly usage: string;
  readonly options: ParseArgsOptionsConfig;
  /** Names of the positional arguments. One in brackets may be left out; such stand last. */
  readonly takes: readonly string[];
  /** Where what it takes is described: said when that is lacking. */
  readonly about?: string;
  run(call: Call): Promise<ExitCode>;
}

export interface Call {
  readonly client: Client;
  /** The same service, asked as the deployment's admin. */
  readonly admin: Client;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly args: readonly string[];
  text(name: string): string | undefined;
  texts(name: string): readonly string[];
  flag(name: string): boolean;
}

export type ParsedCall = Omit<Call, "client" | "admin" | "env" | "terminal">;

export function parseCall(command: Command, argv: readonly string[]): ParsedCall {
  const { values, positionals } = parsed(command, argv);
  const least = command.takes.filter((name) => !name.startsWith("[")).length;
  if (positionals.length < least || positionals.length > command.takes.length) {
    const wanted = command.takes.length === 0 ? "no arguments" : command.takes.join(" ");
    throw new UsageError(`this command takes ${wanted}\nusage: ${command.usage}${aboutIt(command)}`);
  }
  const { limit } = values;
  if (typeof limit === "string" && !(/^[1-9]\d{0,5}$/.test(limit) && Number(limit) <= limits.page_max))
    throw new UsageError(`--limit is a whole number from 1 to ${limits.page_max}\nusage: ${command.usage}`);
  return {
    json: values.json === true,
    args: positionals,
    text: (name) => {
      const value = values[name];
      return typeof value === "string" ? value : undefined;
    },
    texts: (name) => {
      const value = values[name];
      return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
    },
    flag: (name) => values[name] === true,
  };
}

export function aboutIt({ about }: Command): string {
  return about === undefined ? "" : `\n${about}`;
}

interface Words {
  readonly values: Readonly<Record<string, unknown>>;
  readonly positionals: readonly string[];
}

function parsed(command: Command, argv: readonly string[]): Words {
  try {
    const options = { ...command.options, json: { type: "boolean" } } as const;
    return parseArgs({ args: [...argv], strict: true, allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\nusage: ${command.usage}`);
  }
}

export function required(call: Call, name: string): string {
  const value = call.text(name);
  if (value === undefined || value === "") throw new UsageError(`--${name} is required`);
  return value;
}
