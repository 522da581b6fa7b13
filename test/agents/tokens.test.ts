/** Tokens in a scope: consumed once, for one thing, and what becomes of them when keys are rotated and revoked. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TokensDoor } from "../../durable-objects/runtime/doors-tokens.ts";
import { rowsSchema } from "../../durable-objects/runtime/rows.ts";
import { Tokens, tokensSchema } from "../../durable-objects/runtime/token-rows.ts";
import { consumeToken, issue } from "../../durable-objects/runtime/tokens.ts";
import { applySchema, applySchemas } from "../../durable-objects/sql.ts";
import type { ApprovalView } from "../../src/domain/approval-view.ts";
import type { ChainHead } from "../../src/domain/audit.ts";
import { CheckpointFold } from "../../src/domain/checkpoint.ts";
import { readJws } from "../../src/domain/token.ts";
import {
  askingPlan,
  callerOf,
  grantedPlan,
  type Held,
  HeldScope,
  missing,
  must,
  planOf,
  scopeId,
  shell,
} from "../fakes/held-scope.ts";
import { nodeSql } from "../fakes/node-sql.ts";

const ada = callerOf("ada#tok001");
const tree = "5".repeat(40);
let held: HeldScope;
beforeEach(() => {
  held = new HeldScope();
});
afterEach(() => held.close());

const audit = (type: string) => held.scope.stores.audit.after(0, 10_000).filter((link) => link.event_type === type);
const itemOf = (task_id: string) => held.rows.items.ofTask(task_id)[0] ?? missing("item");
const grantOf = (task_id: string) => itemOf(task_id).grant ?? missing("grant");
const kidOf = (jws: string) => readJws(jws)?.kid ?? missing("kid");
async function approved(plan = askingPlan): Promise<string> {
  const task_id = await held.planned(plan);
  must(await held.approve(ada, held.card(task_id)));
  return task_id;
}
/** An attempt whose call a person has allowed, resumed and about to run it. */
async function allowed() {
  const task_id = await approved();
  const run = await held.begun();
  expect(await held.authorize(run, shell("echo a"))).toEqual({ answer: "wait" });
  await held.suspend(run, shell("echo a"), tree);
  const card = held.card(task_id);
  must(await held.approve(ada, card));
  return { task_id, card, run: await held.begun() };
}
const call = shell("echo a", "step-1", tree);
async function issuedBy(approval_id: string) {
  return must(await new TokensDoor(held.scope, held.signatures).approvalTokens(ada, approval_id));
}
async function refusedAt(entry: Held): Promise<string> {
  const answer = await held.begin(entry);
  return answer.answer === "refused" ? answer.reason : answer.answer;
}

describe("a nonce", () => {
  it("[TOK-40] is consumed once, whatever it is shown for again", () => {
    const sql = nodeSql();
    applySchemas(sql, { rows: rowsSchema, tokens: tokensSchema });
    const tokens = new Tokens(sql);
    const token = { approval_id: "a1", subject: "p1.fix", jws: "x.y.z" };
    expect(tokens.consume("0".repeat(32), token, 1)).toBe(true);
    for (const again of [
      token,
      { ...token, jws: "other" },
      { ...token, subject: "p1.b" },
      { ...token, approval_id: "a2" },
    ])
      expect(tokens.consume("0".repeat(32), again, 2)).toBe(false);
    expect(tokens.consume("1".repeat(32), token, 3)).toBe(true);
    expect(tokens.ofApproval("a1").map((row) => row.consumed_at)).toEqual([1, 3]);
    sql.close();
  });
  it("[TOK-40] an approval consumes one for each item, on record by nonce and key, and no two are the same", async () => {
    const plan = planOf([
      "id: a, runner: steps, verify: none, allow: {}",
      "id: b, runner: steps, verify: none, allow: {}",
    ]);
    const task_id = await approved(plan);
    const grants = held.rows.items.ofTask(task_id).map((item) => item.grant?.jws ?? missing("grant"));
    const nonces = grants.map((jws) => readJws(jws)?.statement.nonce);
    expect(new Set(nonces).size).toBe(2);
    const consumed = audit("verify").map(({ decision, details }) => [decision, details.nonce, details.kid]);
    expect(consumed).toEqual(nonces.map((nonce) => ["consumed", nonce, held.keys.kid]));
  });
  it("[TOK-40] shown again it attaches nothing, and that is on record; nor does a token that names another approval", async () => {
    const task_id = await approved();
    const { jws, approval_id } = grantOf(task_id);
    const again = (about: string) =>
      held.scope.commit((tx) =>
        consumeToken(tx, held.rows.tasks.get(task_id) ?? missing("task"), { approval_id: about, subject: "p.b", jws }),
      );
    expect([again(approval_id), again("a-other")]).toEqual([false, false]);
    expect(audit("verify").slice(-2)).toMatchObject([
      { decision: "refused", reason: "the token's nonce was consumed before" },
      { decision: "refused", reason: "the token names another approval" },
    ]);
  });
});

describe("a token", () => {
  it("[TOK-41] that is well signed for exactly this item and was never consumed for it does not stand", async () => {
    const task_id = await approved();
    const item = itemOf(task_id);
    const { statement } = readJws(grantOf(task_id).jws) ?? missing("statement");
    const second = await issue(held.keys, { ...statement, nonce: "f".repeat(32) });
    held.rows.items.put({ ...item, grant: { ...grantOf(task_id), jws: second } });
    expect(await refusedAt(held.claim() ?? missing("request"))).toContain("not consumed for this");
  });
  it("[TOK-41] consumed for one approval does not stand under another's name", async () => {
    const task_id = await approved();
    held.rows.items.put({ ...itemOf(task_id), grant: { ...grantOf(task_id), approval_id: "a-other" } });
    expect(await refusedAt(held.claim() ?? missing("request"))).toContain("not consumed for this");
  });
  it("[TOK-42] of a call is spent by the call's start: put back as it was, the same token allows nothing more", async () => {
    const { task_id, run } = await allowed();
    const before = held.rows.calls.ofTask(task_id)[0] ?? missing("call");
    expect(before.state).toBe("allowed");
    expect(await held.authorize(run, call)).toEqual({ answer: "run" });
    held.rows.calls.put(before);
    held.reopen();
    expect(await held.authorize(run, call)).toEqual({ answer: "wait" });
    expect(audit("check").at(-1)).toMatchObject({ decision: "void", reason: "the token was spent before" });
    expect(held.sql.all("SELECT nonce FROM tokens WHERE spent_at IS NOT NULL")).toHaveLength(1);
  });
  it("[TOK-44] attached before consumption was kept goes on standing, and one that was spent stays spent", async () => {
    const { task_id, run } = await allowed();
    const forget = () => {
      held.sql.run("DROP TABLE tokens");
      held.sql.run("DELETE FROM schema_versions WHERE part = 'tokens'");
      held.reopen();
    };
    forget();
    const before = held.rows.calls.ofTask(task_id)[0] ?? missing("call");
    expect(await held.authorize(run, call)).toEqual({ answer: "run" });
    forget();
    held.rows.calls.put(before);
    expect(await held.authorize(run, call)).toEqual({ answer: "wait" });
    expect(audit("check").at(-1)?.reason).toBe("the token was spent before");
    expect(held.sql.all("SELECT seq FROM tokens")).toHaveLength(2);
  });
  it("[TOK-44] a store from before has its tables made and loses nothing", () => {
    const sql = nodeSql();
    applySchemas(sql, { rows: rowsSchema });
    const grant = JSON.stringify({ grant: { jws: "j", approval_id: "a", life: "attached", void_reason: null } });
    sql.run("INSERT INTO items (id, task_id, status, doc) VALUES ('p.a', 't', 'slung', ?)", grant);
    sql.run("INSERT INTO items (id, task_id, status, doc) VALUES ('p.b', 't', 'slung', '{\"grant\":null}')");
    applySchema(sql, "tokens", tokensSchema);
    const tokens = new Tokens(sql);
    expect(tokens.has({ approval_id: "a", subject: "p.a", jws: "j" })).toBe(true);
    expect(tokens.has({ approval_id: "a", subject: "p.b", jws: "j" })).toBe(false);
    sql.close();
  });
});

describe("rotating keys", () => {
  it("[TOK-45] what the old key signed passes every entry after a restart; what is signed then carries the new key", async () => {
    const old = held.keys.kid;
    const { task_id, card } = await (async () => {
      const id = await approved();
      const first = await held.begun();
      expect(await held.authorize(first, shell("echo a"))).toEqual({ answer: "wait" });
      await held.suspend(first, shell("echo a"), tree);
      return { task_id: id, card: held.card(id) };
    })();
    held.keys.rotate();
    held.reopen();
    must(await held.approve(ada, card));
    const resumed = await held.begun();
    expect(await held.authorize(resumed, call)).toEqual({ answer: "run" });
    const [done] = held.rows.calls.ofTask(task_id);
    expect([kidOf(grantOf(task_id).jws), kidOf(done?.grant?.jws ?? "")]).toEqual([old, held.keys.kid]);
    const checked = audit("check").map(({ decision, details }) => [details.entry ?? "spend", decision, details.kid]);
    expect(checked).toContainEqual(["resume", "valid", old]);
    expect(checked).toContainEqual(["tool_call", "valid", old]);
    expect(checked.every(([, decision]) => decision === "valid")).toBe(true);
    expect(kidOf(grantOf(await approved(grantedPlan)).jws)).toBe(held.keys.kid);
  });
  it("[TOK-45] checkpoints of both keys verify as one chain", async () => {
    const { checkpoints, audit: log } = held.scope.stores;
    const kids: string[] = [];
    const sealed = async () => {
      const head: ChainHead = log.head() ?? missing("head");
      const made = (await checkpoints.sign(scopeId, held.keys, [head], held.now)) ?? missing("checkpoint");
      kids.push(made.kid);
      held.scope.commit((tx) =>
        checkpoints.keep(made, held.now, (hash) =>
          tx.audit("effect", { trace_id: "scope" }, { decision: "sealed", details: { hash } }),
        ),
      );
    };
    await approved();
    await sealed();
    held.keys.rotate();
    await approved();
    await sealed();
    expect(new Set(kids).size).toBe(2);
    const fold = new CheckpointFold(scopeId, (...signed) => held.keys.verify(...signed));
    for (const row of checkpoints.unshipped(scopeId, 9)) expect(await fold.add(row.jws)).toBeNull();
    expect(fold.last?.seq).toBe(2);
  });
});

describe("revoking a key", () => {
  it("[TOK-46] what it signed and has not run stops at the next entry, and the record names the key", async () => {
    const old = held.keys.kid;
    const task_id = await approved();
    held.keys.rotate();
    held.keys.pairs.delete(old);
    held.reopen();
    const reason = await refusedAt(held.claim() ?? missing("request"));
    expect(reason).toContain(`does not verify with a key of this deployment (it names key ${old})`);
    expect(audit("check").at(-1)).toMatchObject({ decision: "refused", details: { entry: "attempt_start", kid: old } });
    expect(audit("gate_block").at(-1)).toMatchObject({ decision: "blocked", details: { kid: old } });
    expect(held.rows.items.ofTask(task_id)[0]?.outcome).toBe("open");
  });
  it("[TOK-46] a call that was allowed by it does not run, and one that ran is not undone", async () => {
    const { run, task_id, card } = await allowed();
    const old = held.keys.kid;
    held.keys.rotate();
    const item = grantOf(task_id);
    // The item is approved anew by the new key; the call's yes is still of the old one.
    const { statement } = readJws(item.jws) ?? missing("statement");
    const jws = await issue(held.keys, { ...statement, nonce: "e".repeat(32) });
    held.scope.commit((tx) => {
      const task = held.rows.tasks.get(task_id) ?? missing("task");
      expect(consumeToken(tx, task, { approval_id: item.approval_id, subject: itemOf(task_id).id, jws })).toBe(true);
      tx.rows.items.put({ ...itemOf(task_id), grant: { ...item, jws } });
    });
    expect(await issuedBy(item.approval_id)).toMatchObject([
      { life: "void", void_reason: "it is attached to nothing any more" },
      { life: "checked", kid: held.keys.kid, jws },
    ]);
    held.keys.pairs.delete(old);
    expect(await held.authorize(run, call)).toEqual({ answer: "wait" });
    expect(audit("check").at(-1)?.reason).toContain(`it names key ${old}`);
    const shown = await issuedBy(card.id);
    expect(shown).toMatchObject([{ life: "void", kid: old, spent_at: null }]);
    expect(shown[0]?.void_reason).toContain(`it names key ${old}`);
  });
});

describe("one more attempt", () => {
  /** An attempt that the entry check refused has ended; the card that asks what now. */
  async function refusedAndAsked(task_id: string): Promise<ApprovalView> {
    const entry = held.claim() ?? missing("request");
    expect(await held.begin(entry)).toMatchObject({ answer: "refused", error_code: "gate_blocked" });
    await held.fail(entry);
    return held.card(task_id);
  }
  it("[TOK-48] is signed for anew, under the key of now: a yes to the escalation heals an item whose key was revoked", async () => {
    const task_id = await approved();
    const first = grantOf(task_id);
    const old = held.keys.kid;
    held.keys.rotate();
    held.keys.pairs.delete(old);
    held.reopen();
    const card = await refusedAndAsked(task_id);
    expect(card).toMatchObject({ kind: "escalation", card: { items: [{ item_hash: itemOf(task_id).item_hash }] } });
    must(await held.approve(ada, card));
    expect(grantOf(task_id)).toMatchObject({ approval_id: card.id, life: "attached" });
    expect(await held.begin(held.claim() ?? missing("request"))).toEqual({ answer: "go" });
    expect(kidOf(grantOf(task_id).jws)).toBe(held.keys.kid);
    expect(await issuedBy(first.approval_id)).toMatchObject([{ life: "void" }]);
  });
  it("[TOK-48] not for bytes that changed since the plan was approved: such a card takes no yes", async () => {
    const task_id = await approved();
    const item = itemOf(task_id);
    const steps = ["rm -rf everything"];
    held.rows.items.put({ ...item, spec: { ...item.spec, steps } });
    const card = await refusedAndAsked(task_id);
    expect(await held.approve(ada, card)).toMatchObject({ ok: false, refusal: { code: "content_changed" } });
    must(await held.deny(ada, card));
    expect(held.rows.tasks.get(task_id)?.status).toBe("failed");
  });
});

describe("the tokens of an approval", () => {
  it("[TOK-43] are shown as they were signed, with how far each has come", async () => {
    const { task_id, card, run } = await allowed();
    const { approval_id, jws } = grantOf(task_id);
    expect(await issuedBy(approval_id)).toEqual([
      {
        subject: itemOf(task_id).id,
        kid: held.keys.kid,
        life: "checked",
        void_reason: null,
        issued_at: new Date(held.now).toISOString(),
        expires_at: new Date(held.now + 30 * 86_400_000).toISOString(),
        spent_at: null,
        jws,
      },
    ]);
    expect(await issuedBy(card.id)).toMatchObject([{ life: "attached", spent_at: null }]);
    expect(await held.authorize(run, call)).toEqual({ answer: "run" });
    expect(await issuedBy(card.id)).toMatchObject([{ life: "executed", spent_at: new Date(held.now).toISOString() }]);
  });
  it("[TOK-43] what was replaced or withdrawn stays visible as void, with why; an approval that signed nothing has none", async () => {
    const { task_id, card, run } = await allowed();
    const { approval_id } = grantOf(task_id);
    // Another tree than the one that was approved: the call's token is let go.
    expect(await held.authorize(run, shell("echo a", "step-1", "6".repeat(40)))).toEqual({ answer: "wait" });
    expect(await issuedBy(card.id)).toMatchObject([{ life: "void", void_reason: expect.stringMatching(/./) }]);
    must(await held.tasks.cancelTask(ada, task_id, "no more"));
    expect(await issuedBy(approval_id)).toMatchObject([{ life: "void", void_reason: "the task is cancelled" }]);
    const waiting = await held.planned();
    expect(await issuedBy(held.card(waiting).id)).toEqual([]);
    const none = await new TokensDoor(held.scope, held.signatures).approvalTokens(ada, "a-none");
    expect(none).toMatchObject({ ok: false, refusal: { code: "approval_not_found" } });
  });
});
