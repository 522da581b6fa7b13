/**
 * What it takes to tell an agent what it needs at first, in a repository of 10,000 files with a memory of 10,000
 * entries: ranked and within its budget, beside reading everything and cutting what is too long.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MemoryRows, memorySchema } from "../../../durable-objects/runtime/memory-rows.ts";
import { applySchema } from "../../../durable-objects/sql.ts";
import { memoryPieces } from "../../../src/agents/memory-pieces.ts";
import { SandboxFailure } from "../../../src/agents/ports.ts";
import { readProject } from "../../../src/agents/project-files.ts";
import { assemble, type Piece } from "../../../src/domain/context.ts";
import { estimatedTokens } from "../../../src/domain/token-count.ts";
import { limits } from "../../../src/limits.ts";
import { nodeSql } from "../../fakes/node-sql.ts";
import { median, medianRatio, type Runner, takeTurns } from "../stats.ts";
import type { Row, Table } from "../table.ts";
import type { Group, World } from "../world.ts";

const files = 10_000;
const perFolder = 100;
const ours = "ranked: rules, item, 20 of the memories, the files it names";
const naive = "naive: every file and every memory read, then cut";
const touched = ["src/f001/m0042.ts", "src/f050/m0007.ts", "src/f099/m0099.ts"];
const title = "context: what an agent is told at first, 10,000 files and 10,000 memories";
const nothing = "nothing: it is read and put together in memory";

export const context: Group = {
  name: "context",
  about: "assembling a context in a repository of 10,000 files, beside reading everything and cutting",
  run: async (world) => [await measure(world)],
};

async function measure({ ground, sizes, say }: World): Promise<Table> {
  const root = ground.folder("context");
  layRepository(root);
  const sql = nodeSql(join(ground.folder("memory"), "memory.sqlite"));
  try {
    const rows = layMemory(sql);
    const grown = new Map<string, number[]>();
    const runner = (name: string, work: () => Promise<string>): Runner => ({
      name,
      run: async () => {
        const before = held();
        const began = performance.now();
        const text = await work();
        const passed = performance.now() - began;
        grown.set(name, [...(grown.get(name) ?? []), Math.max(0, held() - before)]);
        const tokens = estimatedTokens(text);
        if (tokens > limits.context_tokens) throw new Error(`${name}: ${tokens} tokens are over the budget`);
        return passed;
      },
    });
    const runners = [runner(ours, () => ranked(root, rows)), runner(naive, async () => everything(root, rows))];
    const seen = await takeTurns(runners, sizes.rounds, say);
    const row = (what: string): Row => ({
      what,
      figures: {
        ms: median(seen.get(what) ?? []),
        "of_naive_%": 100 * medianRatio(seen.get(what) ?? [], seen.get(naive) ?? []),
        grown_mb: median(grown.get(what) ?? []) / 1024 / 1024,
      },
      durable: nothing,
    });
    return {
      title,
      how: `Files of about 1 KB on the measured disk, read without a sandbox on both sides; a budget of ${limits.context_tokens} tokens. grown_mb: what the process held more when the text was ready, uncollected garbage included.`,
      rows: [row(ours), row(naive)],
      targets: [],
    };
  } finally {
    sql.close();
  }
}

function held(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function ranked(root: string, rows: MemoryRows): Promise<string> {
  const item: Piece = {
    ...{ kind: "item", title: "Correct the pager", taint: "owner", source: "plan", least_tokens: 4_000 },
    text: "The pager rounds down, so the rows of the last page are never offered. Round up.",
  };
  const project = await readProject(diskFiles(root), "bench", { skills: ["s07"], taint: "member" });
  const found = rows.search({
    query: "pager rounds down last page",
    kind: null,
    limit: limits.memory_found,
    offset: 0,
  });
  const named = touched.map(
    (path): Piece => ({
      kind: "file",
      title: path,
      text: readFileSync(join(root, path), "utf8"),
      taint: "member",
      source: path,
    }),
  );
  return assemble([...project, item, ...memoryPieces(found), ...named], limits.context_tokens).text;
}

function everything(root: string, rows: MemoryRows): string {
  const all = rows.search({ query: "", kind: null, limit: files, offset: 0 }).map(({ text }) => text);
  const read = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
  // As many characters as the budget has bytes: all of it is ASCII.
  return [...read, ...all].join("\n\n").slice(0, limits.context_tokens * 4);
}

function diskFiles(root: string) {
  const orMissing = <T>(ask: () => T): Promise<T> => {
    try {
      return Promise.resolve(ask());
    } catch {
      return Promise.reject(new SandboxFailure("bad_request", "it does not exist"));
    }
  };
  return {
    read: (_: string, path: string) => orMissing(() => new Uint8Array(readFileSync(join(root, path)))),
    list: (_: string, path: string) =>
      orMissing(() =>
        readdirSync(join(root, path), { withFileTypes: true }).map((entry) => ({
          name: entry.name,
          kind: entry.isDirectory() ? ("directory" as const) : ("file" as const),
          size: 0,
        })),
      ),
  };
}

function layRepository(root: string): void {
  const line = "export const value = compute(input, options); // a line like many others\n";
  for (let folder = 0; folder < files / perFolder; folder++) {
    const path = join(root, "src", `f${String(folder).padStart(3, "0")}`);
    mkdirSync(path, { recursive: true });
    for (let at = 0; at < perFolder; at++)
      writeFileSync(join(path, `m${String(at).padStart(4, "0")}.ts`), `// ${folder} ${at}\n${line.repeat(14)}`);
  }
  writeFileSync(join(root, "AGENTS.md"), "- Run the tests before you finish.\n".repeat(200));
  for (let at = 0; at < 20; at++) {
    const name = `s${String(at).padStart(2, "0")}`;
    const folder = join(root, ".countersign/skills", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, "SKILL.md"),
      `---\nname: ${name}\ndescription: How ${name} is done\n---\n${"Do it well.\n".repeat(100)}`,
    );
  }
}

const words = [
  "pager",
  "cache",
  "parser",
  "queue",
  "token",
  "build",
  "merge",
  "page",
  "round",
  "last",
  "index",
  "lock",
];
function layMemory(sql: ReturnType<typeof nodeSql>): MemoryRows {
  applySchema(sql, "memory", memorySchema);
  const rows = new MemoryRows(sql);
  sql.transaction(() => {
    for (let at = 0; at < limits.memory_entries; at++) {
      const word = (step: number) => words[(at * step + step) % words.length] ?? "";
      const text = `The ${word(1)} of ${word(5)} ${at} must see the ${word(7)} first. `.repeat(8);
      rows.add({
        ...{ id: `m${at}`, kind: "discovery", title: `${word(1)} ${at}`, text, task_id: null, taint: "member" },
        at: "2026-01-01T00:00:00.000Z",
      });
    }
  });
  return rows;
}
