import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cardView } from "../../src/domain/approval-view.ts";
import { taints } from "../../src/domain/message.ts";
import { defaultPolicy, resolve } from "../../src/domain/policy.ts";
import { holdsSecret, keepTaint, readAlso, readByCall, type Tainted, taintOfRole } from "../../src/domain/taint.ts";
import { contentHash } from "../../src/domain/token.ts";
import { callerRoles } from "../../src/domain/view.ts";
import { limits } from "../../src/limits.ts";
import { approvalOf } from "../fakes/views.ts";

const rank = (one: Tainted) => taints.indexOf(one.taint);
const clean: Tainted = { taint: "owner", taint_sources: [] };
const source = fc.record({
  taint: fc.constantFrom(...taints),
  source: fc.constantFrom("a", "b", "c"),
  at: fc.constant("now"),
});

describe("taint", () => {
  it("[TAINT-1] is the least trusted of what was read, in any order, and never falls", () => {
    fc.assert(
      fc.property(fc.array(source), (reads) => {
        let reader = clean;
        for (const read of reads) {
          const next = readAlso(reader, read);
          if (rank(next) < rank(reader) || rank(next) < taints.indexOf(read.taint)) return false;
          reader = next;
        }
        const worst = Math.max(0, ...reads.map((read) => taints.indexOf(read.taint)));
        return rank(reader) === worst;
      }),
    );
  });
  it("[TAINT-1] an old copy written back takes nothing away, and brings what it has", () => {
    const stored = readAlso(clean, { taint: "web", source: "a page", at: "1" });
    const stale = readAlso(clean, { taint: "member", source: "bob", at: "2" });
    expect(keepTaint(stored, { ...stale, title: "kept" })).toEqual({
      ...{ taint: "web", title: "kept" },
      taint_sources: [
        { taint: "web", source: "a page", at: "1" },
        { taint: "member", source: "bob", at: "2" },
      ],
    });
  });
  it("[TAINT-2] each origin is kept once, of too many the latest trusted go, and long ones are cut", () => {
    let reader = readAlso(clean, { taint: "owner", source: "first", at: "0" });
    for (let at = 0; at < limits.taint_sources * 2; at++)
      reader = readAlso(reader, { taint: at % 2 === 0 ? "member" : "web", source: `${at}`, at: `${at}` });
    expect(reader.taint_sources).toHaveLength(limits.taint_sources);
    expect(new Set(reader.taint_sources.map((one) => one.taint))).toEqual(new Set(["web"]));
    expect(reader.taint_sources[0]).toEqual({ taint: "web", source: "1", at: "1" });
    const again = readAlso(reader, { taint: "web", source: "1", at: "later" });
    expect(again.taint_sources).toEqual(reader.taint_sources);
    const long = readAlso(clean, { taint: "web", source: "x".repeat(10_000), at: "1" });
    expect(long.taint_sources[0]?.source).toHaveLength(200);
  });
  it("[TAINT-3] approvers are owners, everybody else in the scope is a member", () => {
    expect(callerRoles.map(taintOfRole)).toEqual(["member", "member", "owner", "owner"]);
  });
  it.each([
    ["shell_execute", [], [], null],
    ["shell_execute", [], ["example.org"], "may reach example.org"],
    ["python_execute", [], ["example.org"], "may reach example.org"],
    ["shell_execute", ["evil.example"], [], "names evil.example"],
    ["web_search", [], [], "reads with web_search"],
    ["file_read", [], ["example.org"], null],
    ["file_write", [], [], null],
    ["git_push", [], [], "reads with git_push"],
    ["somebody_elses_tool", [], [], "reads with somebody_elses_tool"],
  ] as const)("[TAINT-4] %s naming %j under the hosts %j: %s", (tool, hosts, allowed, from) => {
    const read = readByCall({ tool, hosts }, { hosts: [...allowed] });
    expect(read).toEqual(from === null ? null : { taint: "web", from });
  });
  it("[TAINT-5] a granted secret and a private repository are secrets, and either makes the rule of two ask", () => {
    expect(holdsSecret({ secrets: [] }, { is_private: false })).toBe(false);
    for (const [secrets, is_private] of [
      [["KEY"], false],
      [[], true],
    ] as const) {
      const holds_secret = holdsSecret({ secrets: [...secrets] }, { is_private });
      const context = { role: "crew", taint: "outsider", holds_secret, token: null } as const;
      expect(resolve(defaultPolicy, { tool: "web_search", args: { query: "x" } }, context)).toMatchObject({
        decision: "ask",
        rule: "gate:rule-of-two",
      });
    }
  });
  it("[TAINT-6] a card of before origins were kept has the hash it had", () => {
    const { card } = approvalOf("a1");
    const { taint_sources, ...before } = card;
    expect(contentHash(cardView.parse(before))).toBe(contentHash(before));
    const after = { ...before, taint_sources: [{ taint: "web" as const, source: "a page", at: "1" }] };
    expect(contentHash(cardView.parse(after))).not.toBe(contentHash(before));
  });
});
