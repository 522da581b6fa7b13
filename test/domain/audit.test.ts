import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AuditEvent, actorOf, append, type ChainHead, genesis, verifyChain } from "../../src/domain/audit.ts";
import { capDetails } from "../../src/domain/audit-details.ts";
import { byteLength, canonicalJson, hashOf } from "../../src/domain/canonical.ts";
import type { AuditView } from "../../src/domain/record-view.ts";

const object = "scopescopescope1/runtime";
const event: AuditEvent = {
  object,
  event_type: "enqueue",
  trace_id: "trace-1",
  message_id: "message-1",
  scope_id: "scopescopescope1",
  actor: "runtime",
  decision: "accepted",
  reason: null,
  details: { queue: "inbox" },
  created_at: "2026-01-01T00:00:00.000Z",
};
function chain(length: number, of = object): AuditView[] {
  const links: AuditView[] = [];
  let head: ChainHead | null = null;
  for (let n = 0; n < length; n++) {
    const link = append(head, { ...event, object: of, reason: `event ${n + 1}` });
    links.push(link);
    head = link;
  }
  return links;
}
const headOf = (links: AuditView[]): ChainHead[] =>
  links.slice(-1).map(({ object, seq, hash }) => ({ object, seq, hash }));
const fault = (links: readonly AuditView[], heads: readonly ChainHead[] = []) => {
  const found = verifyChain(links, heads);
  return found.ok ? "ok" : `${found.fault} ${found.seq}`;
};

describe("the audit chain", () => {
  it("[AUD-1] links are numbered from 1, each holds the hash before it, and the hash covers every other field", () => {
    const [first, second] = chain(2);
    expect(first).toMatchObject({ seq: 1, prev_hash: genesis });
    expect(second).toMatchObject({ seq: 2, prev_hash: first?.hash });
    const { hash, ...rest } = second ?? chain(1)[0] ?? { ...event, seq: 0, prev_hash: "", hash: "" };
    expect(hashOf(rest)).toBe(hash);
  });

  it("[AUD-2] a chain as it was written verifies, several interleaved too, up to or past their heads", () => {
    const a = chain(4);
    const b = chain(2, "scopescopescope1/proxy");
    const mixed = [a[0], b[0], a[1], a[2], b[1], a[3]].flatMap((link) => link ?? []);
    expect(verifyChain(mixed, [...headOf(a), ...headOf(b.slice(0, 1))])).toEqual({
      ok: true,
      heads: [...headOf(a), ...headOf(b)],
    });
    expect(fault([])).toBe("ok");
  });

  it("[AUD-3] one changed field of any row is found, and the row named, even when its hash was made anew", () => {
    const links = chain(5);
    const heads = headOf(links);
    fc.assert(
      fc.property(
        fc.nat(4),
        fc.constantFrom("reason", "decision", "actor", "created_at", "trace_id", "details"),
        fc.boolean(),
        (at, field, rehashed) => {
          const changed = links.map((link) => ({ ...link, details: { ...link.details } }));
          const row = changed[at];
          if (row === undefined) return;
          Object.assign(row, { [field]: field === "details" ? { queue: "other" } : "user" });
          if (rehashed) {
            const { hash: _, ...rest } = row;
            row.hash = hashOf(rest);
          }
          expect(fault(changed, heads)).toBe(`altered ${at + 1}`);
        },
      ),
    );
  });

  it("[AUD-4] a missing, repeated or exchanged row is found and its place named", () => {
    const links = chain(5);
    expect(fault(links.toSpliced(2, 1))).toBe("missing 3");
    expect(fault(links.slice(1))).toBe("missing 1");
    const [a, b, c] = links;
    if (a === undefined || b === undefined || c === undefined) throw new Error("the chain is too short");
    expect(fault([a, c, b])).toBe("reordered 2");
    expect(fault([a, b, b, c])).toBe("reordered 3");
  });

  it("[AUD-5] an end cut off, a whole chain gone, or a rewritten last row is found by the signed head", () => {
    const links = chain(5);
    const heads = headOf(links);
    expect(fault(links.slice(0, 3), heads)).toBe("truncated 4");
    expect(fault([], heads)).toBe("truncated 1");
    const forged = [...links.slice(0, 4), append(links[3] ?? null, { ...event, reason: "forged" })];
    expect(fault(forged)).toBe("ok");
    expect(fault(forged, heads)).toBe("altered 5");
  });

  it("[AUD-6] a row that has no canonical form counts as altered and does not stop the check", () => {
    const links = chain(2).map((link) => ({ ...link, reason: "\ud800" }));
    expect(fault(links)).toBe("altered 1");
  });

  it("[AUD-7] details are at most 8 KB; what is longer is cut with a mark and its true size", () => {
    expect(capDetails({ text: "x".repeat(8_000) })).toEqual({ text: "x".repeat(8_000) });
    for (const text of ["x".repeat(100_000), "é".repeat(5_000), '"\\\n'.repeat(40_000), "😀".repeat(30_000)]) {
      const capped = capDetails({ text, after: 1 });
      expect(capped).toMatchObject({ truncated: true, original_bytes: expect.any(Number) });
      expect(byteLength(canonicalJson(capped))).toBeLessThanOrEqual(8 * 1024);
    }
  });

  it("[AUD-8] secrets are masked by key and by shape, wherever they stand", () => {
    const token = `cs_${"a".repeat(16)}0123456789_${"S".repeat(43)}`;
    const link = append(null, {
      ...event,
      reason: `used ${token}`,
      details: {
        token: "s3cret",
        token_id: "t1",
        nested: [{ password: "s3cret", header: "Bearer s3cret-s3cret" }],
        said: `x ${token} y`,
      },
    });
    const text = canonicalJson(link);
    expect(text).not.toContain("s3cret");
    expect(text).not.toContain("SSSS");
    expect(link.details.token_id).toBe("t1");
  });

  it("[AUD-9] whatever details hold, an event can be recorded and verified", () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    const hostile = {
      nan: Number.NaN,
      big: 10n,
      none: undefined,
      half: "\ud800",
      nul: "a\0b",
      call: () => 1,
      date: new Date(0),
      loop,
    };
    const link = append(null, { ...event, reason: "nul\0half\ud800", details: hostile });
    expect(fault([link])).toBe("ok");
    expect(link.reason).toBe("nulhalf\ufffd");
    expect(fault([JSON.parse(JSON.stringify(link))])).toBe("ok");
  });

  it("[AUD-10] a sender's name is told in the audit's words", () => {
    expect(["user", "proxy", "planner", "runtime", "verifier", "crew-3"].map(actorOf)).toEqual([
      "user",
      "proxy",
      "planner",
      "runtime",
      "verification_runner",
      "executor",
    ]);
  });
});
