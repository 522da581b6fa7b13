import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as platform from "../../durable-objects/sha256.ts";
import { byteLength, canonicalJson, sha256Hex } from "../../src/domain/canonical.ts";
import { plainJson } from "../../src/domain/plain-json.ts";

describe("the short ways", () => {
  it("[ID-5] the short way to a canonical text says what the library says, of any value, errors included", () => {
    const said = (write: () => string | undefined) => {
      try {
        return write();
      } catch (thrown) {
        return `${thrown}`;
      }
    };
    const same = (value: unknown) => {
      const long = said(() => canonicalize(value));
      const short = said(() => plainJson(value) ?? undefined);
      if (short !== undefined) expect(short).toBe(long);
      expect(long === undefined || said(() => canonicalJson(value)) === long).toBe(true);
    };
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSparseArray: true,
      withTypedArray: true,
      withUnicodeString: true,
      maxDepth: 4,
    });
    const words = fc.string({
      unit: fc.constantFrom("a", "b", "1", "é", "\ud800", "\udc00", '"', "\\", "\n", "\u2028", "😀"),
    });
    const keys = fc.oneof(words, fc.constantFrom("__proto__", "toJSON", "constructor", "10", "9", "1e3", ""));
    const odd = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        words,
        fc.double(),
        fc.constantFrom(undefined, null, -0, Number.NaN, Symbol("s"), () => 1, new Date(0), Object(1n)),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.array(fc.tuple(keys, tie("value")), { maxLength: 6 }).map((pairs) => Object.fromEntries(pairs)),
      ),
    })).value;
    fc.assert(fc.property(anything, same), { numRuns: 500 });
    fc.assert(fc.property(odd, same), { numRuns: 2_000 });
    const circle: unknown[] = [];
    circle.push({ circle });
    const shared = { b: 1, a: 2 };
    let deep: unknown = 1;
    for (let depth = 0; depth < 100; depth++) deep = depth % 2 === 0 ? [deep] : { deep };
    const long = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`key ${n}`, n]));
    const own = Object.assign(Object.create({ toJSON: () => 1 }), { a: 1 });
    const listed = Object.assign([1, 2], { toJSON: () => "list" });
    for (const value of [circle, [shared, shared], deep, long, own, listed, new (class extends Array {})()])
      same(value);
    // Objects whose keys are alike in number and ends are told apart.
    for (const value of [
      { b: 1, a: 2, d: 3 },
      { b: 1, c: 2, d: 3 },
      { b: 1, a: 2, d: 3 },
    ])
      same(value);
    expect(plainJson({ b: "x", a: [1, null, { d: true, c: "é" }] })).toBe('{"a":[1,null,{"c":"é","d":true}],"b":"x"}');
  });
  it("[ID-5] the short way to a length in bytes is the encoder's, half characters and long texts included", () => {
    const bytes = (text: string) => new TextEncoder().encode(text).length;
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => byteLength(text) === bytes(text)));
    for (const text of [
      "",
      "\ud800",
      "a\udc00b",
      "x".repeat(16_384),
      "é".repeat(20_000),
      `x${"😀".repeat(30_000)}`,
      "\ud800".repeat(9_000),
    ])
      expect(byteLength(text)).toBe(bytes(text));
  });
  it("[ID-6] the platform's SHA-256 is the domain's", () => {
    const texts = fc.string({ unit: "binary", maxLength: 300 });
    fc.assert(fc.property(texts, (text) => platform.sha256Hex(text) === sha256Hex(text)));
    for (const text of ["", "\ud800", "é".repeat(50_000)]) expect(platform.sha256Hex(text)).toBe(sha256Hex(text));
  });
});
