import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { append, appendText, ChainFold, verifyChain } from "../../src/domain/audit.ts";
import { NotAnExport, verifyFile } from "../../src/domain/audit-file.ts";
import { canonicalJson } from "../../src/domain/canonical.ts";
import { CheckpointFold, checkpointsOf, readCheckpoint } from "../../src/domain/checkpoint.ts";
import { jwsInput } from "../../src/domain/jws.ts";
import { readJws, signingInput } from "../../src/domain/token.ts";
import {
  chainOf,
  eventOf,
  fileOf,
  headOf,
  makeKey,
  sample,
  scope_id,
  signCheckpoint,
  verifyWith,
} from "../fakes/audit-chains.ts";

const key = makeKey("k1");
const other = makeKey("k1");
const made = sample(key);
const good = fileOf(made.rows, made.checkpoints, [key]);
const runtime = `${scope_id}/runtime`;
const proxy = `${scope_id}/proxy`;

async function* from(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}
const judge = (lines: readonly string[]) =>
  verifyFile(
    () => from(lines),
    () => verifyWith(key),
  );
const named = async (lines: readonly string[]) => {
  const { ok, fault } = await judge(lines);
  return ok ? "ok" : `${fault?.fault} ${fault?.object} ${fault?.seq}`;
};
const without = (line: string | undefined) => good.filter((each) => each !== line);
const rowLine = (object: string, seq: number) =>
  good.find((line) => line.includes(`"object":"${object}"`) && line.includes(`"seq":${seq},`));

describe("a chain, row by row", () => {
  it("[AUD-14] whatever stands in a row's place is named: no audit row, another scope's row, a row that comes too late", () => {
    const fold = (rows: readonly unknown[]) => {
      const all = new ChainFold([], scope_id);
      for (const row of rows) all.add(row);
      const end = all.end();
      return end.ok ? "ok" : `${end.fault} ${end.object} ${end.seq}`;
    };
    const [a, b, c] = made.runtime;
    expect(fold([a, b, c])).toBe("ok");
    expect(fold([a, { ...b, actor: "nobody" }])).toBe(`altered ${runtime} 2`);
    expect(fold([a, { ...b, details: "text" }])).toBe(`altered ${runtime} 2`);
    expect(fold([a, null])).toBe("altered ? 1");
    expect(fold([a, ...chainOf("runtime", 1, "otherotherother1")])).toBe("altered otherotherother1/runtime 1");
    expect(fold([a, { ...b, scope_id: "otherotherother1" }])).toBe(`altered ${runtime} 2`);
    expect(fold([a, c])).toBe(`missing ${runtime} 2`);
    expect(fold([a, c, b])).toBe(`reordered ${runtime} 2`);
    expect(fold([a, b, b])).toBe(`reordered ${runtime} 3`);
  });
  it("[AUD-14] it can go on where rows verified before left off, and a head signed before that place is not asked for again", () => {
    const [first, , third] = made.runtime;
    if (first === undefined || third === undefined) throw new Error("the sample is too short");
    const heads = [headOf(made.runtime, 2), headOf(made.runtime, 5)];
    const rest = (rows: readonly unknown[]) => {
      const all = new ChainFold(heads, scope_id, headOf(made.runtime, 3));
      for (const row of rows) all.add(row);
      return all.end();
    };
    expect(rest(made.runtime.slice(3))).toMatchObject({ ok: true });
    expect(rest(made.runtime.slice(3, 4))).toMatchObject({ fault: "truncated", seq: 5 });
    expect(rest(made.runtime.slice(4))).toMatchObject({ fault: "missing", seq: 4 });
    const forged = append(headOf(made.runtime, 2), eventOf("runtime", 99));
    expect(rest([append(forged, eventOf("runtime", 4))])).toMatchObject({ fault: "altered", seq: 3 });
  });
  it("[AUD-15] a link's stored text is its canonical JSON, whatever its details say", () => {
    const hostile = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double(), fc.constant(null)));
    fc.assert(
      fc.property(hostile, fc.string(), (details, reason) => {
        const { link, body } = appendText(null, { ...eventOf("runtime", 1), details, reason });
        expect(body).toBe(canonicalJson(link));
        expect(verifyChain([link])).toMatchObject({ ok: true });
      }),
    );
    const trap = { hash: 'x","hash":"', '"message_id":': 1 };
    const { link, body } = appendText(null, { ...eventOf("runtime", 1), details: trap });
    expect(body).toBe(canonicalJson(link));
  });
});

describe("checkpoints", () => {
  const fold = async (...all: readonly string[]) => {
    const checkpoints = new CheckpointFold(scope_id, verifyWith(key));
    for (const each of all) {
      const fault = await checkpoints.add(each);
      if (fault !== null) return `${fault.fault} ${fault.object} ${fault.seq}`;
    }
    return checkpoints;
  };
  const [first = "", second = "", third = ""] = made.checkpoints;

  it("[AUD-16] a checkpoint is no approval token, and a token no checkpoint", () => {
    expect(readCheckpoint(first)?.said).toMatchObject({ seq: 1, scope: scope_id });
    expect(readJws(first)).toBeNull();
    const subject = { type: "attempt" as const, attempt_id: "a", patch_tree: "t" };
    const ids = { scope: scope_id, task: "t", approval_id: "ap", content_hash: "c", approver: "me" };
    const said = { ...ids, subject, nonce: "0".repeat(32), iat: 1, exp: 2 };
    const token = `${signingInput("k1", said)}.AAAA`;
    expect(readJws(token)).not.toBeNull();
    expect(readCheckpoint(token)).toBeNull();
    // What a checkpoint says, under the name that tokens go by: a signature made for the one is none for the other.
    const claims = readCheckpoint(first)?.said;
    expect(readCheckpoint(`${jwsInput("countersign-checkpoint+jws", "k1", claims)}.AAAA`)).not.toBeNull();
    expect(readCheckpoint(`${jwsInput("countersign+jws", "k1", claims)}.AAAA`)).toBeNull();
  });
  it("[AUD-17] each is signed, numbered and follows the one before; what was removed, forged or moved is named", async () => {
    const chain = checkpointsOf(scope_id);
    const whole = await fold(first, second, third);
    if (typeof whole === "string") throw new Error(whole);
    expect(whole.last).toMatchObject({ seq: 3 });
    expect(whole.signedUpTo(runtime)).toBe(5);
    // The proxy's end is the same in the last two: it is held once.
    expect(whole.heads()).toHaveLength(5);
    expect(await fold(first, third)).toBe(`missing ${chain} 2`);
    expect(await fold(second)).toBe(`missing ${chain} 1`);
    expect(await fold(first, first)).toBe(`reordered ${chain} 2`);
    const forged = signCheckpoint(other, first, [headOf(made.runtime, 4)], { seq: 2 });
    expect(await fold(first, forged)).toBe(`altered ${chain} 2`);
    const foreign = signCheckpoint(key, first, [], { seq: 2, scope: "otherotherother1" });
    expect(await fold(first, foreign)).toBe(`altered ${chain} 2`);
    const loose = signCheckpoint(key, third, [], { seq: 2 });
    expect(await fold(first, loose)).toBe(`altered ${chain} 2`);
    const back = signCheckpoint(key, second, [headOf(made.runtime, 3)], { seq: 3 });
    expect(await fold(first, second, back)).toBe(`truncated ${runtime} 4`);
    expect(await fold("a.b.c")).toBe(`altered ${chain} 1`);
  });
});

describe("the audit as a file", () => {
  it("[AUD-21] verifies as it was written, and says how far it is signed", async () => {
    expect(await judge(good)).toMatchObject({
      ok: true,
      rows: 10,
      checkpoints: 3,
      last_checkpoint: { seq: 3 },
      chains: [
        { object: proxy, seq: 4, signed_up_to: 3 },
        { object: runtime, seq: 6, signed_up_to: 5 },
      ],
    });
    expect(await named(fileOf([], [], []))).toBe("ok");
  });
  it("[AUD-21] a removed row, a swapped pair, a cut end, a chain or a checkpoint gone, a forged one and another scope's rows are named", async () => {
    expect(await named(without(rowLine(runtime, 3)))).toBe(`missing ${runtime} 3`);
    const at = good.indexOf(rowLine(proxy, 2) ?? "");
    expect(await named(good.with(at, good[at + 1] ?? "").with(at + 1, good[at] ?? ""))).toBe(`reordered ${proxy} 2`);
    const cut = made.rows.filter(({ object, seq }) => object !== runtime || seq < 4);
    expect(await named(fileOf(cut, made.checkpoints, [key]))).toBe(`truncated ${runtime} 4`);
    expect(await named(fileOf(made.runtime, made.checkpoints, [key]))).toBe(`truncated ${proxy} 1`);
    const gone = good.find((line) => line.includes(made.checkpoints[1] ?? "none"));
    expect(await named(without(gone))).toBe(`missing ${checkpointsOf(scope_id)} 2`);
    const forged = signCheckpoint(other, null, [headOf(made.runtime, 2)], { seq: 1 });
    expect(await named(fileOf(made.rows, [forged], [key]))).toBe(`altered ${checkpointsOf(scope_id)} 1`);
    const mixed = [...made.proxy, ...chainOf("proxy", 2, "otherotherother1"), ...made.runtime];
    expect(await named(fileOf(mixed, made.checkpoints, [key]))).toBe("altered otherotherother1/proxy 1");
    const rewritten = [...made.runtime.slice(0, 3)];
    rewritten.push(append(rewritten.at(-1) ?? null, eventOf("runtime", 99)));
    expect(await named(fileOf([...made.proxy, ...rewritten], made.checkpoints.slice(0, 2), [key]))).toBe(
      `altered ${runtime} 4`,
    );
  });
  it("[AUD-21] any one byte of a row or a checkpoint is found, and the row it stood in named", async () => {
    const text = good.join("\n");
    const start = (good[0] ?? "").length + 1;
    const end = text.length - (good.at(-1) ?? "").length - 1;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: start, max: end - 1 }),
        fc.constantFrom("x", "1", " ", '"'),
        async (at, byte) => {
          if (text[at] === byte) return;
          const { ok, fault } = await judge(`${text.slice(0, at)}${byte}${text.slice(at + 1)}`.split("\n"));
          expect(ok).toBe(false);
          // The byte may be the one that makes an object's name of two words: the row is named as it stands then.
          const object = text[at] === "/" ? expect.any(String) : expect.stringContaining("/");
          expect(fault).toMatchObject({ object, seq: expect.any(Number) });
        },
      ),
      { numRuns: 300 },
    );
  });
  it("[AUD-21] a line that says the same in other bytes was not written by us", async () => {
    const line = rowLine(runtime, 2) ?? "";
    const others = [line.replace("{", "{ "), `${line}\r`, line.replace("1e+21", "1E+21"), line.replace("é", "\\u00e9")];
    for (const other of others) {
      expect(other).not.toBe(line);
      expect(await named(good.with(good.indexOf(line), other))).toBe(`altered ${runtime} 2`);
    }
  });
  it("[AUD-22] what is no export is said to be so; a missing last line, or one that counts wrong, is a fault", async () => {
    const refused = [[], ["{}"], ["not json"], [(good[0] ?? "").replace('"version":1', '"version":2')]];
    for (const lines of refused) await expect(judge(lines), lines[0]).rejects.toThrow(NotAnExport);
    expect(await named(without(rowLine(proxy, 4)))).toBe(`truncated ${scope_id}/* 10`);
    expect(await named(without(good.at(-2)))).toBe(`truncated ${checkpointsOf(scope_id)} 3`);
    expect(await named(good.slice(0, -1))).toMatch(/^truncated /);
  });
});
