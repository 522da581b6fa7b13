import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, hashOf, sha256Hex } from "../../src/domain/canonical.ts";
import { formatToken, parseToken, sameText, scopeMac, secretHash } from "../../src/domain/credential.ts";
import { derivedId, idBytes, randomId, timerCause } from "../../src/domain/ids.ts";

describe("canonical bytes", () => {
  it("[ID-1] values that are the same JSON have the same canonical text, whatever the order of their keys", () => {
    expect(canonicalJson({ b: 1, a: [true, null, "é"], "": 1e21 })).toBe('{"":1e+21,"a":[true,null,"é"],"b":1}');
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ stringUnit: "grapheme" })), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse());
        expect(hashOf(turned)).toBe(hashOf(value));
        expect(canonicalJson(JSON.parse(canonicalJson(value)))).toBe(canonicalJson(value));
      }),
    );
  });
  it("[ID-2] SHA-256 is the standard's, over UTF-8; what JSON cannot say is an error, not a guess", () => {
    expect(sha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(sha256Hex("é")).toBe(sha256Hex(new Uint8Array([0xc3, 0xa9])));
    for (const bad of [undefined, Number.NaN, "\ud800", { a: Number.POSITIVE_INFINITY }])
      expect(() => canonicalJson(bad)).toThrow();
  });
});

describe("ids", () => {
  it("[ID-3] a derived id is 24 letters that depend on cause, kind and index, and on nothing else", () => {
    const id = derivedId("message-1", "plan_request", 0);
    expect(id).toMatch(/^[a-z2-7]{24}$/);
    expect(derivedId("message-1", "plan_request", 0)).toBe(id);
    const others = [
      derivedId("message-1", "plan_request", 1),
      derivedId("message-1", "plan_result", 0),
      derivedId("message-2", "plan_request", 0),
      derivedId('message-1","plan_request', "", 0),
      derivedId(timerCause("s/runtime", "row", 1), "plan_request", 0),
      derivedId(timerCause("s/runtime", "row", 2), "plan_request", 0),
    ];
    expect(new Set([id, ...others]).size).toBe(7);
  });
  it("[ID-4] a random id holds all of its 15 bytes, and fewer are refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: idBytes, maxLength: idBytes }), fc.nat(119), (bytes, bit) => {
        const other = bytes.slice();
        other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(randomId(bytes)).toMatch(/^[a-z2-7]{24}$/);
        expect(randomId(other)).not.toBe(randomId(bytes));
      }),
    );
    expect(() => randomId(new Uint8Array(14))).toThrow(RangeError);
  });
});

describe("credentials", () => {
  const key = new Uint8Array(32).fill(7);
  const scope = "abcdefgh12345678";
  const secret = "A".repeat(43);

  it("[WHO-1] what is formatted parses back, and nothing else parses", () => {
    const mac = scopeMac(key, scope);
    for (const prefix of ["cs", "css", "cst"] as const)
      expect(parseToken(formatToken(scope, mac, secret, prefix), prefix)).toEqual({ scope, mac, secret });
    const good = formatToken(scope, mac, secret);
    const bad = [
      ...["", "cs_", good.slice(1), `${good} `, `${good}\n`, good.toUpperCase(), good.replace("_", "-")],
      ...[
        formatToken(scope, mac, "short"),
        formatToken(scope.toUpperCase(), mac, secret),
        formatToken(scope, mac, "a".repeat(129)),
      ],
      ...[formatToken(scope, mac, secret, "css"), `x${good}`, "cs_".repeat(100_000)],
    ];
    for (const text of bad) expect(parseToken(text), text.slice(0, 80)).toBeNull();
  });
  it("[WHO-2] the mac differs by scope and by key, and comparing texts sees every difference", () => {
    expect(scopeMac(key, scope)).toMatch(/^[0-9a-f]{10}$/);
    expect(scopeMac(key, "abcdefgh12345679")).not.toBe(scopeMac(key, scope));
    expect(scopeMac(new Uint8Array(32), scope)).not.toBe(scopeMac(key, scope));
    expect(sameText("same", "same")).toBe(true);
    for (const [a, b] of [
      ["same", "samf"],
      ["same", "sam"],
      ["", "a"],
      ["a\0", "a"],
    ] as const)
      expect(sameText(a, b)).toBe(false);
    expect(secretHash("x")).toHaveLength(64);
  });
});
