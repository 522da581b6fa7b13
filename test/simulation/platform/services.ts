/**
 * The services around the objects: D1, R2 and the sandboxes' host, each behind the network. One may be `down`: it
 * then fails before it does anything. A lost reply means that it was done and the caller does not know.
 */
import { type Sandboxes, SandboxFailure } from "../../../src/agents/ports.ts";
import { nodeD1 } from "../../fakes/node-d1.ts";
import { type Actor, actor, as } from "./actors.ts";
import type { Faults } from "./faults.ts";
import type { Network } from "./network.ts";

export interface ServiceParts {
  readonly network: Network;
  readonly faults: Faults;
}
export interface Service {
  down: boolean;
}

class Line {
  readonly service: Service = { down: false };
  readonly #name: string;
  readonly #parts: ServiceParts;
  readonly #away: () => Error;
  readonly #self: Actor;
  constructor(name: string, parts: ServiceParts, away: () => Error) {
    this.#name = name;
    this.#parts = parts;
    this.#away = away;
    this.#self = { name, alive: true };
  }
  ask<T>(method: string, act: () => Promise<T>): Promise<T> {
    const answer = async () => {
      if (this.service.down || this.#parts.faults.chance("service_fails")) throw this.#away();
      return as(this.#self, act);
    };
    return this.#parts.network.call({ to: this.#name, method, answer, lost: this.#away });
  }
}

type Statement = ReturnType<D1Database["prepare"]>;

export function simulatedD1(migrations: string, parts: ServiceParts) {
  const line = new Line("d1", parts, () => new Error("D1_ERROR: Network connection lost."));
  const real = nodeD1(migrations).db;
  const inner = new WeakMap<object, Statement>();
  const wrap = (statement: Statement): object => {
    const wrapped = new Proxy(
      {},
      {
        get: (_, method) => {
          if (method === "bind") return (...params: unknown[]) => wrap(statement.bind(...params));
          const found: unknown = Reflect.get(statement, method);
          if (typeof found !== "function" || typeof method !== "string") return found;
          return (...args: unknown[]) => line.ask(method, async () => found.apply(statement, args));
        },
      },
    );
    inner.set(wrapped, statement);
    return wrapped;
  };
  const db = {
    prepare: (query: string) => wrap(real.prepare(query)),
    batch: (statements: readonly object[]) =>
      line.ask("batch", () => real.batch(statements.flatMap((each) => inner.get(each) ?? []))),
  };
  // As much of D1 as the fake below has.
  return { db: db as unknown as D1Database, real, service: line.service };
}

export function simulatedR2(parts: ServiceParts) {
  const line = new Line("r2", parts, () => new Error("R2: Network connection lost."));
  const stored = new Map<string, Uint8Array>();
  /** What was put, and by whom, oldest first. */
  const puts: { by: string; key: string }[] = [];
  const bytesOf = (value: unknown) =>
    typeof value === "string"
      ? new TextEncoder().encode(value)
      : ArrayBuffer.isView(value)
        ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice()
        : new Uint8Array(value as ArrayBuffer).slice(); // what else `put` takes is not used
  const head = (key: string, bytes: Uint8Array) => ({ key, size: bytes.byteLength, uploaded: new Date() });
  const bucket = {
    put: (key: string, value: unknown) => {
      const [bytes, by] = [bytesOf(value), actor().name];
      return line.ask("put", async () => {
        puts.push({ by, key });
        stored.set(key, bytes);
      });
    },
    get: (key: string) =>
      line.ask("get", async () => {
        const bytes = stored.get(key);
        if (bytes === undefined) return null;
        const copy = bytes.slice();
        return {
          ...head(key, bytes),
          arrayBuffer: async () => copy.buffer,
          bytes: async () => copy,
          text: async () => new TextDecoder().decode(copy),
        };
      }),
    head: (key: string) =>
      line.ask("head", async () => {
        const bytes = stored.get(key);
        return bytes === undefined ? null : head(key, bytes);
      }),
    delete: (keys: string | readonly string[]) =>
      line.ask("delete", async () => {
        for (const key of [keys].flat()) stored.delete(key);
      }),
    list: ({ prefix = "", limit = 1_000 }: { prefix?: string; limit?: number } = {}) =>
      line.ask("list", async () => {
        const found = [...stored].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1));
        return { objects: found.slice(0, limit).map((each) => head(...each)), truncated: found.length > limit };
      }),
  };
  return { bucket: bucket as unknown as R2Bucket, stored, puts, service: line.service };
}

/** What the host was really asked to do, as it does it. */
export interface SandboxWatch {
  before(method: string, args: readonly unknown[]): void;
}

export function simulatedSandboxes(real: Sandboxes, watch: SandboxWatch, parts: ServiceParts) {
  const line = new Line("sandboxes", parts, () => new SandboxFailure("unreachable", "the host does not answer", true));
  const sandboxes = new Proxy(real, {
    get(target, method) {
      const found: unknown = Reflect.get(target, method);
      if (typeof found !== "function" || typeof method !== "string") return found;
      return (...args: unknown[]) =>
        line.ask(method, async () => {
          const [id] = args;
          // A sandbox may die under its callers, with every process in it.
          if (typeof id === "string" && parts.faults.chance("sandbox_dies")) await real.destroy(id);
          watch.before(method, args);
          return found.apply(target, args);
        });
    },
  });
  return { sandboxes, service: line.service };
}
