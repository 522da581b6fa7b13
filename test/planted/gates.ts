/** Bugs of gates and taint: what a hurried hand might write where words and results pass. */
import type { Plant } from "./plants.ts";

const words = { test: "test/agents/gates.test.ts" } as const;
const steps = { test: "test/agents/gates-steps.test.ts" } as const;
const texts = { test: "test/domain/gate-texts.test.ts" } as const;
const taint = { test: "test/agents/taint.test.ts" } as const;
const pure = { test: "test/domain/taint.test.ts" } as const;

const gates = "durable-objects/runtime/gates.ts";
const held = "durable-objects/runtime/held.ts";

export const gatePlants: readonly Plant[] = [
  {
    id: "gate-looks-at-description-only",
    file: "durable-objects/runtime/tasks.ts",
    find: "const words = [input.title, input.description, plan]",
    replace: "const words = [input.title, input.description]",
    why: "a plan passes the gate unread",
    subset: words,
  },
  {
    id: "held-message-not-compared",
    file: held,
    find: "card.card.tool?.arguments === heldBytes(held.message)",
    replace: "card.card.tool !== null",
    why: "another message passes than the one that was shown",
    subset: words,
  },
  {
    id: "held-message-stays",
    file: held,
    find: "  tx.rows.held.remove(held.id);\n  const knowing",
    replace: "  const knowing",
    why: "what passed is still held",
    subset: words,
  },
  {
    id: "dropped-task-goes-on",
    file: held,
    find: "if (!held.carries_task)",
    replace: 'if (!held.carries_task || held.trigger === "every_user_message")',
    why: "a task whose words were dropped waits for ever",
    subset: words,
  },
  {
    id: "block-asks-at-result",
    file: gates,
    find: 'blocked: action === "block" || before?.action === "block"',
    replace: 'blocked: before?.action === "block"',
    why: "a blocked result is verified",
    subset: words,
  },
  {
    id: "after-step-forgotten-at-result",
    file: gates,
    find: 'blocked: action === "block" || before?.action === "block"',
    replace: 'blocked: action === "block"',
    why: "what a gate blocked after the last step is verified",
    subset: steps,
  },
  {
    id: "after-step-met-by-asking",
    file: gates,
    find: 'if (before === null || own.decision === "deny") return own;',
    replace: 'if (before === null || own.decision !== "ask") return own;',
    why: "a granted call runs on past the gate's question",
    subset: steps,
  },
  {
    id: "after-step-asks-for-ever",
    file: gates,
    find: "if (attempt.after_step !== null) tx.rows.attempts.put({ ...attempt, after_step: null });",
    replace: "",
    why: "one question is asked before every later call",
    subset: steps,
  },
  {
    id: "agents-told-the-gate",
    file: "durable-objects/runtime/tasks.ts",
    find: 'tx.status(ended, "failed", { detail: stoppedByGate,',
    replace: 'tx.status(ended, "failed", { detail: reason,',
    why: "agents learn which words to avoid",
    subset: steps,
  },
  {
    id: "secret-repeated",
    file: "src/domain/gate-texts.ts",
    find: "secrets.find(([, shape]) => shape.test(text))?.[0] ?? null",
    replace: "secrets.map(([, shape]) => shape.exec(text)?.[0]).find((one) => one !== undefined) ?? null",
    why: "the secret stands in the record",
    subset: texts,
  },
  {
    id: "words-compared-as-written",
    file: "src/domain/gate-texts.ts",
    find: " || plain.includes(plainly(word))",
    replace: "",
    why: "an invisible character inside a word gets it through",
    subset: texts,
  },
  {
    id: "stale-copy-lowers-taint",
    file: "src/domain/taint.ts",
    find: "taint: joinTaint(stored.taint, written.taint),",
    replace: "taint: written.taint,",
    why: "an old copy of the task forgets what was read since",
    subset: taint,
  },
  {
    id: "hosts-of-grant-not-read",
    file: "src/domain/taint.ts",
    find: "return open.length === 0 ? null :",
    replace: "return open.length < 2 ? null :",
    why: "a run with one open host counts as having read nothing",
    subset: pure,
  },
  {
    id: "taint-read-after-the-call",
    file: gates,
    find: "  readByRunning(tx, task, item, attempt, call);\n",
    replace: "",
    why: "the rule of two never hears of what a call reads",
    subset: taint,
  },
  {
    id: "card-keeps-old-taint",
    file: "durable-objects/runtime/taints.ts",
    find: 'if (card.status === "pending") showAnew(tx, next, card);',
    replace: 'if (card.status !== "pending") showAnew(tx, next, card);',
    why: "a person approves without knowing who spoke since",
    subset: taint,
  },
  {
    id: "low-message-believed",
    file: "durable-objects/runtime/taints.ts",
    find: "  if (taint === message.taint) return message;",
    replace: "  if (taint === task.taint) return message;",
    why: "a message is taken in with less taint than its task has",
    subset: taint,
  },
];
