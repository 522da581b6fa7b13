import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative, sep } from "node:path";
import { parseSync } from "vite";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

interface Import {
  readonly from: string;
  /** A file of the project by its path from the root, or a package. */
  readonly to: string;
  readonly typeOnly: boolean;
}
interface Source {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
  /** What it exports that another file declares. */
  readonly reexports: readonly string[];
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.endsWith(".d.ts"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"));
}

function read(path: string): Source {
  const text = readFileSync(join(root, path), "utf8");
  const { module, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const to = (name: string): string =>
    name.startsWith(".")
      ? normalize(join(dirname(path), name))
          .split(sep)
          .join("/")
      : name;
  const exported = module.staticExports.flatMap((one) => one.entries);
  const imports: Import[] = [
    ...module.staticImports.map((one) => ({
      to: one.moduleRequest.value,
      typeOnly: one.entries.length > 0 && one.entries.every((entry) => entry.isType),
    })),
    ...exported.flatMap((entry) =>
      entry.moduleRequest === null ? [] : [{ to: entry.moduleRequest.value, typeOnly: entry.isType }],
    ),
    ...module.dynamicImports.map((one) => ({
      to: text.slice(one.moduleRequest.start + 1, one.moduleRequest.end - 1),
      typeOnly: false,
    })),
  ].map((one) => ({ from: path, to: to(one.to), typeOnly: one.typeOnly }));
  return {
    path,
    text,
    imports,
    reexports: exported.flatMap((entry) =>
      entry.moduleRequest !== null && !entry.isType ? [entry.moduleRequest.value] : [],
    ),
  };
}

const sources = ["src", "durable-objects", "web/src"].flatMap(filesBelow).map(read);
const imports = sources.flatMap((source) => source.imports);
const isLocal = (path: string): boolean => /^(?:src|durable-objects|web|test|migrations)\//.test(path);

/** The room of a file: the folder that has a rule, or the file itself when it stands alone in `src`. */
function roomOf(path: string): string {
  if (path === "src/agents/models.ts" || path === "src/agents/github-port.ts") return "src/agents/ports.ts";
  if (path === "src/agents/ports.ts" || path === "src/host/protocol.ts") return path;
  const [top = "", second = ""] = path.split("/");
  return top === "src" ? `src/${second}` : top;
}

/** Who may import whom. `limits.ts` is every default, imports its second file alone, and is open to all. */
const rooms: Record<string, { readonly values: readonly string[]; readonly types?: readonly string[] }> = {
  "src/limits.ts": { values: ["src/limits-minds.ts", "src/limits-github.ts"] },
  "src/limits-minds.ts": { values: [] },
  "src/limits-github.ts": { values: [] },
  "src/domain": { values: ["src/domain"] },
  "src/agents/ports.ts": { values: ["src/domain"] },
  "src/agents": { values: ["src/agents", "src/agents/ports.ts", "src/domain"] },
  "src/host/protocol.ts": { values: ["src/domain", "src/agents/ports.ts"] },
  "src/adapters": {
    values: ["src/adapters", "src/agents/ports.ts", "src/domain", "src/host/protocol.ts"],
    types: ["src/agents", "src/env.ts"],
  },
  "src/http": { values: ["src/http", "src/domain", "src/env.ts"], types: ["src/agents/ports.ts"] },
  "src/host": { values: ["src/host", "src/host/protocol.ts", "src/domain"] },
  "src/cli": { values: ["src/cli", "src/domain"], types: ["src/http"] },
  web: { values: ["web", "src/domain"], types: ["src/http"] },
  "durable-objects": {
    values: ["durable-objects", "src/agents", "src/agents/ports.ts", "src/domain", "src/env.ts"],
    types: ["src/http"],
  },
};

function breaks(one: Import): boolean {
  const rule = rooms[roomOf(one.from)];
  if (rule === undefined || !isLocal(one.to) || one.to === "src/limits.ts") return false;
  const room = roomOf(one.to);
  return !rule.values.includes(room) && !(one.typeOnly && rule.types?.includes(room) === true);
}

/** Files of one cycle of value imports, first and last the same. */
function findCycle(all: readonly Import[]): string[] {
  const next = new Map<string, string[]>();
  for (const one of all)
    if (!one.typeOnly && isLocal(one.to)) next.set(one.from, [...(next.get(one.from) ?? []), one.to]);
  const clean = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string[] => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (clean.has(path)) return [];
    for (const to of next.get(path) ?? []) {
      const found = visit(to, [...trail, path]);
      if (found.length > 0) return found;
    }
    clean.add(path);
    return [];
  };
  for (const path of next.keys()) {
    const found = visit(path, []);
    if (found.length > 0) return found;
  }
  return [];
}

describe("the rooms", () => {
  it("[ARCH-1] a room imports only the rooms it may", () => {
    expect(
      imports.filter(breaks).map((one) => `${one.from} imports ${one.typeOnly ? "a type of " : ""}${one.to}`),
    ).toEqual([]);
  });
  it("[ARCH-1] the rule sees an import that breaks it", () => {
    expect(breaks({ from: "src/domain/x.ts", to: "src/agents/y.ts", typeOnly: false })).toBe(true);
    expect(breaks({ from: "src/cli/x.ts", to: "src/http/y.ts", typeOnly: false })).toBe(true);
    expect(breaks({ from: "src/cli/x.ts", to: "src/http/y.ts", typeOnly: true })).toBe(false);
    expect(breaks({ from: "durable-objects/a/x.ts", to: "src/adapters/y.ts", typeOnly: false })).toBe(true);
    expect(breaks({ from: "src/http/x.ts", to: "durable-objects/y.ts", typeOnly: true })).toBe(true);
    expect(breaks({ from: "src/host/x.ts", to: "src/agents/ports.ts", typeOnly: true })).toBe(true);
  });
  it("[ARCH-2] the domain imports nothing but itself, the limits and eight pure packages", () => {
    const packages = /^(?:zod|yaml|unbash|canonicalize|markdown-it|parse5|@noble\/hashes\/[\w.-]+)$/;
    const strange = imports.filter(
      (one) => one.from.startsWith("src/domain/") && !isLocal(one.to) && !packages.test(one.to),
    );
    expect(strange.map((one) => `${one.from} imports ${one.to}`)).toEqual([]);
  });
  it("[ARCH-2] the domain asks no clock, no dice and no world", () => {
    const impure =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bfetch\(|\bprocess\.|\bglobalThis\b|\bset(?:Timeout|Interval)\b|\bcrypto\.|\bperformance\.|\bconsole\.|\bimport\.meta\b/;
    const found = sources
      .filter((source) => source.path.startsWith("src/domain/"))
      .flatMap((source) =>
        withoutComments(source.text)
          .split("\n")
          .flatMap((line, index) => (impure.test(line) ? [`${source.path}:${index + 1} ${line.trim()}`] : [])),
      );
    expect(found).toEqual([]);
  });
  it("[MODEL-19] only the adapters speak to a model's provider", () => {
    const sdk = /\b(?:from|import\()\s*"(?:ai|@ai-sdk\/[\w-]+|workers-ai-provider)(?:\/[\w-]+)?"/;
    const users = sources.filter(({ text }) => sdk.test(text)).map(({ path }) => path);
    expect(users.length).toBeGreaterThan(2);
    expect(users.filter((path) => !path.startsWith("src/adapters/model"))).toEqual([]);
  });
  it("[ARCH-3] no file imports itself by way of others; type-only imports do not count", () => {
    expect(findCycle(imports)).toEqual([]);
    const link = (from: string, to: string, typeOnly = false) => ({ from: `src/${from}`, to: `src/${to}`, typeOnly });
    expect(findCycle([link("a", "b"), link("b", "c"), link("c", "b")])).toEqual(["src/b", "src/c", "src/b"]);
    expect(findCycle([link("a", "b"), link("b", "a", true)])).toEqual([]);
  });
  it("[ARCH-4] no barrels: values are imported from where they are declared; only the entry hands on the objects' classes", () => {
    expect(
      sources
        .filter((source) => source.reexports.length > 0 && source.path !== "src/worker.ts")
        .map((source) => source.path),
    ).toEqual([]);
  });
  it("[ARCH-5] names at the top level are fixed", () => {
    const rooms = ["package.json", "wrangler.toml", "src", "durable-objects", "migrations", "web", "test"];
    const furniture =
      /^(?:\..*|README.*|LICENSE|NOTICE|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|tsconfig.*\.json|package-lock\.json|Dockerfile|biome\.json|(?:vitest|drizzle)\.config\.ts|docs|node_modules)$/;
    expect(readdirSync(root).filter((name) => !rooms.includes(name) && !furniture.test(name))).toEqual([]);
  });
});

/** Good enough for this project's own style: a quoted `//` would cut its line short and hide only what follows it there. */
function withoutComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "))
    .replace(/(^|\s)\/\/.*$/gm, "$1");
}
