/** Bugs through which a hostile executor would get more than it was given. */
import type { Plant } from "./plants.ts";

const calls = { test: "test/agents/worst-case.test.ts" } as const;
const shape = { test: "test/domain/call-shape.test.ts" } as const;

export const worstCasePlants: readonly Plant[] = [
  {
    id: "two-values-in-one-text",
    file: "src/domain/call-form.ts",
    find: "return canonicalJson(read) === given ? null",
    replace: "return canonicalJson(read) !== undefined ? null",
    why: "arguments with a key twice are judged by one and shown with both",
    subset: calls,
  },
  {
    id: "arguments-of-any-size",
    file: "src/domain/call-form.ts",
    find: 'if (byteLength(given) > limits.call_arguments_bytes) return "its arguments are too large";\n',
    replace: "\n",
    why: "a call is judged for as long as its caller likes",
    subset: calls,
  },
  {
    id: "call-id-without-end",
    file: "src/domain/call-form.ts",
    find: "Math.max(call_id.length, tool.length)",
    replace: "tool.length",
    why: "a call's id of any length is stored and audited",
    subset: calls,
  },
  {
    id: "refusal-off-the-record",
    file: "durable-objects/runtime/calls.ts",
    find: '  tx.audit("gate_block", task, { actor: "gate_runner", decision: "deny", reason, details });\n',
    replace: "",
    why: "a call without a form is refused and nobody ever hears of it",
    subset: calls,
  },
  {
    id: "shown-what-was-not-judged",
    file: "durable-objects/runtime/outcomes.ts",
    find: 'call?.state === "waiting" && call.tool === suspension.tool && call.arguments === suspension.arguments',
    replace: 'call?.state === "waiting"',
    why: "a person is shown other arguments than were judged",
    subset: calls,
  },
  {
    id: "asks-for-what-ran",
    file: "durable-objects/runtime/outcomes.ts",
    find: 'call?.state === "waiting" && ',
    replace: "call !== null && ",
    why: "a call that ran asks again and runs a second time",
    subset: calls,
  },
  {
    id: "path-under-another-spelling",
    file: "src/domain/policy-call.ts",
    find: '    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")\n',
    replace: "",
    why: "a file under `filePath` is held to nothing",
    subset: shape,
  },
  {
    id: "granted-without-a-file",
    file: "src/domain/policy.ts",
    find: 'touch.writes && touch.tool.startsWith("file_") && touch.paths.length === 0',
    replace: 'touch.tool === "file_delete" && touch.paths.length === 0',
    why: "a grant of some paths covers a change that names none",
    subset: shape,
  },
  {
    id: "others-for-any-name",
    file: "src/domain/policy.ts",
    find: 'others === "auto_approve" && !toolName.test(tool)',
    replace: 'others === "auto_approve" && tool === ""',
    why: "a name that looks like a denied tool's runs as an unknown one",
    subset: shape,
  },
  {
    id: "globs-without-end",
    file: "src/domain/policy.ts",
    find: "globsIn(policy) <= limits.policy_globs",
    replace: "globsIn(policy) >= 0",
    why: "one policy keeps the service at work for as long as its author likes",
    subset: shape,
  },
];
