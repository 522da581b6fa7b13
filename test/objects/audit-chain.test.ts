/** The audit chain in an object's own SQLite, whose errors are worded by the platform. */
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { AuditLog } from "../../durable-objects/audit-log.ts";
import { sha256Hex as platformSha256Hex } from "../../durable-objects/sha256.ts";
import { durableSql } from "../../durable-objects/sql.ts";
import { verifyChain } from "../../src/domain/audit.ts";
import { sha256Hex } from "../../src/domain/canonical.ts";
import { agentStub, makeScope } from "./scope.ts";

describe("an object's own chain", () => {
  it("[AUD-24] a link follows the stored end, though the last one was undone or another log wrote", async () => {
    const scope = await makeScope();
    await runInDurableObject(agentStub(scope, "planner"), async (_object, state) => {
      const sql = durableSql(state);
      const [audit, other] = [new AuditLog(sql), new AuditLog(sql)];
      const append = (log: AuditLog, decision: string) =>
        log.append(
          {
            ...{ object: `${scope.id}/planner`, event_type: "transition", trace_id: "trace-1", message_id: null },
            ...{ scope_id: scope.id, actor: "runtime", decision, reason: null, details: {} },
          },
          1,
        ).seq;
      const first = append(audit, "kept");
      for (const log of [audit, audit, other])
        expect(() =>
          sql.transaction(() => {
            append(log, "undone");
            throw new Error("undone");
          }),
        ).toThrow("undone");
      expect(append(other, "kept")).toBe(first + 1);
      expect(sql.transaction(() => [append(audit, "kept"), append(audit, "kept")])).toEqual([first + 2, first + 3]);
      expect(append(other, "kept")).toBe(first + 4);
      const links = audit.after(0, 100);
      expect(verifyChain(links)).toMatchObject({ ok: true });
      expect(links.slice(first - 1).map(({ decision }) => decision)).toEqual(Array(5).fill("kept"));
    });
  });
  it("[ID-6] the platform's SHA-256 is the domain's", () => {
    for (const text of ["", "abc", "\ud800", "é".repeat(50_000)]) expect(platformSha256Hex(text)).toBe(sha256Hex(text));
  });
});
