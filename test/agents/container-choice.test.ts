/** Which sandboxes a deployment has, what it says when it has none, and that its files fit each other. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SandboxList, sandboxListSchema } from "../../durable-objects/sandbox-list.ts";
import { applySchema } from "../../durable-objects/sql.ts";
import { type Bindings, worldOf } from "../../src/env.ts";
import { limits } from "../../src/limits.ts";
import { failure } from "../contract/programs.ts";
import { nodeSql } from "../fakes/node-sql.ts";

const root = join(import.meta.dirname, "../..");
/** As much of a deployment's bindings as a choice of sandboxes looks at. */
function deployed(more: Record<string, unknown>): Bindings {
  const asked: string[] = [];
  const object = {
    fetch: async () => Response.json(null),
    sandboxes: async () => [{ id: "a", scope_id: "s", owner: "o" }],
  };
  const getByName = (name: string) => {
    asked.push(name);
    return object;
  };
  const namespace = { getByName };
  return { POOL: namespace, SANDBOXES: namespace, asked, ...more } as unknown as Bindings;
}
const lacks = (bindings: Bindings) =>
  worldOf(bindings)
    .missing.filter(({ name }) => name.startsWith("SANDBOX"))
    .map(({ name }) => name);

describe("where sandboxes run", () => {
  it("[CON-10] SANDBOX chooses, and what is lacking is named", async () => {
    const host = { SANDBOX_URL: "http://127.0.0.1:1", SANDBOX_SECRET: "s" };
    expect(lacks(deployed(host))).toEqual([]);
    expect(lacks(deployed({ SANDBOX: "local", ...host }))).toEqual([]);
    expect(lacks(deployed({ SANDBOX: "local" }))).toEqual(["SANDBOX_URL"]);
    expect(lacks(deployed({ SANDBOX: "elsewhere", ...host }))).toEqual(["SANDBOX"]);
    expect(lacks(deployed({ SANDBOX: "container", SANDBOXES: undefined, ...host }))).toEqual(["SANDBOX"]);
    expect(await failure(worldOf(deployed({ SANDBOX: "elsewhere" })).sandboxes.sandboxes())).toBe("unreachable");
    const containers = deployed({ SANDBOX: "container" });
    expect(lacks(containers)).toEqual([]);
    expect(await worldOf(containers).sandboxes.sandboxes()).toEqual([{ id: "a", scope_id: "s", owner: "o" }]);
    await worldOf(containers).sandboxes.remove("box-1", "a.txt");
    expect((containers as unknown as { asked: string[] }).asked).toEqual(["pool", "box-1"]);
  });

  it("[CON-10] with containers no folder of a machine is a repository, whatever SANDBOX_URL says", () => {
    const here = { SANDBOX_URL: "http://127.0.0.1:1", SANDBOX_SECRET: "s", GITHUB_URL: "http://127.0.0.1:2" };
    expect(worldOf(deployed(here))).toMatchObject({ localHost: true, gitOrigin: "http://127.0.0.1:2" });
    expect(worldOf(deployed({ SANDBOX: "container", ...here }))).toMatchObject({ localHost: false, gitOrigin: null });
  });

  it("[CON-6] the list of sandboxes takes each once, and no more than the limit", () => {
    const sql = nodeSql();
    applySchema(sql, "sandbox_list", sandboxListSchema);
    const list = new SandboxList(sql);
    const one = (n: number) => ({ id: `box-${n}`, scope_id: "s", owner: `o-${n}` });
    for (let n = 0; n < limits.container_sandboxes; n += 1) expect(list.keep(one(n))).toBe(true);
    expect(list.keep(one(1_000))).toBe(false);
    expect(list.keep(one(0))).toBe(true);
    list.forget("box-0");
    list.forget("box-0");
    expect(list.keep(one(1_000))).toBe(true);
    expect(list.all().length).toBe(limits.container_sandboxes);
    expect(list.all()).toContainEqual(one(1_000));
    sql.close();
  });

  it("[CON-12] the lines for containers in wrangler.toml fit the code once their comment signs are gone", () => {
    const text = readFileSync(join(root, "wrangler.toml"), "utf8");
    const lines = text.slice(text.indexOf("# [[containers]]")).split("\n");
    const block = lines
      .slice(
        0,
        lines.findIndex((line) => !line.startsWith("# ")),
      )
      .map((line) => line.slice(2));
    expect(block[0]).toBe("[[containers]]");
    expect(block).toContain('class_name = "SandboxObject"');
    expect(block).toContain("[containers.images.sandbox]");
    expect(text).toContain('new_sqlite_classes = ["SandboxObject"]');
    const dockerfile = /dockerfile = "\.\/(.+)"/.exec(block.join("\n"))?.[1] ?? "none";
    const image = readFileSync(join(root, dockerfile), "utf8");
    const copied = [...image.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = ""]) => names.split(" "));
    expect(copied.length).toBeGreaterThan(3);
    for (const name of copied) expect([name, existsSync(join(root, name))]).toEqual([name, true]);
    // The Node of the image is the project's own.
    const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const bases = [...image.matchAll(/^FROM (\S+)/gm)].map(([, base = ""]) => base.split("-")[0]);
    expect(new Set(bases)).toEqual(new Set([`node:${devDependencies.node}`]));
  });
});
