/** Bugs by which text of others would be told to a model as if it were not, or hide in what it is told. */
import type { Plant } from "./plants.ts";

const fences = { test: "test/agents/fences.test.ts" } as const;
const fenced = "src/agents/tools/fenced.ts";

export const worstMindPlants: readonly Plant[] = [
  {
    id: "fence-left-out",
    file: fenced,
    find: "marked === true ? text : asData(text, { taint, source })",
    replace: "taint === source || marked !== false ? text : asData(text, { taint, source })",
    why: "what a tool brought back is told like the runtime's own words",
    subset: fences,
  },
  {
    id: "fence-trusts-the-workspace",
    file: fenced,
    find: 'joinTaint("member", run.taint,',
    replace: 'joinTaint("owner",',
    why: "what a tainted task left in its workspace is told as an owner's",
    subset: fences,
  },
  {
    id: "fence-forgets-open-hosts",
    file: fenced,
    find: '(run.allow?.hosts ?? []).length > 0 ? "web" : "member"',
    replace: '"member"',
    why: "what came over an open host is told as a member's",
    subset: fences,
  },
  {
    id: "fence-of-memories-open",
    file: "src/agents/tools/lookups.ts",
    find: "        taint,\n        source: `memory",
    replace: '        taint: "owner",\n        source: `memory',
    why: "a stranger's memory is told as an owner's",
    subset: fences,
  },
  {
    id: "hides-in-a-no",
    file: "src/agents/runners/loop.ts",
    find: "visible(JSON.stringify(resume.denied))",
    replace: "JSON.stringify(resume.denied)",
    why: "what a person pasted into a no hides from whoever reads it, not from the model",
    subset: fences,
  },
  {
    id: "hides-in-a-tools-name",
    file: "src/agents/loop-read.ts",
    find: "const name = visibleLine(called);",
    replace: "const name = called;",
    why: "a name that looks like a tool's is told back as it is",
    subset: fences,
  },
  {
    id: "hides-in-a-granted-path",
    file: "src/domain/policy-call.ts",
    find: "if (visibleLine(value) !== value)",
    replace: "if (visibleLine(value) === null)",
    why: "a pattern grants a file whose name nobody can read",
    subset: fences,
  },
  {
    id: "failures-told-as-orders",
    file: "src/agents/planner-brief.ts",
    find: 'return { ...item(title, text, taint, "attempts"), data: true };',
    replace: 'return item(title, text, taint, "attempts");',
    why: "what a test printed is told to the planner outside of every fence",
    subset: fences,
  },
];
