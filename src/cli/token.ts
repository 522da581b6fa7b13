/**
 * `countersign token ...`: what an approval signed, taken home, and verified with no server by anybody who has the
 * public keys. What comes in may be anything: it is bounded, and answered in one sentence. [CLI-40] to [CLI-44], [CLI-85] to [CLI-88]
 */
import { createReadStream, existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { keySet, type PublicKey } from "../domain/audit-file.ts";
import { type IssuedToken, issuedToken } from "../domain/token.ts";
import { visibleLine } from "../domain/visible.ts";
import { limits } from "../limits.ts";
import { type Call, type Command, exit } from "./command.ts";
import { countOf } from "./counts.ts";
import { readKeys } from "./keys.ts";
import { checkedUrl, UsageError } from "./target.ts";
import { issuedText, verdictsOn, verdictText } from "./token-verdict.ts";

const string = { type: "string" } as const;
const issued = z.looseObject({ items: z.array(issuedToken) });
/** As `token show --json --out` writes them, or as the API answers. */
const manyTokens = z.looseObject({
  items: z
    .array(z.looseObject({ jws: z.string() }))
    .min(1)
    .max(limits.token_file_tokens),
});

export const verify: Command = {
  usage: "countersign token verify FILE|- [--keys FILE | --url URL] [--at TIME]",
  options: { keys: string, url: string, at: string },
  takes: ["FILE"],
  async run(call) {
    const now_ms = timeOf(call.text("at"));
    const tokens = tokensIn(await contentOf(call));
    const { keys, keys_from } = await keysFor(call);
    const found = await verdictsOn(tokens ?? [""], keys, now_ms);
    const valid = found.every(({ state }) => state === "valid");
    const asked_at = new Date(now_ms).toISOString();
    if (call.json) call.terminal.out(JSON.stringify({ valid, at: asked_at, keys_from, tokens: found }));
    else {
      call.terminal.out(found.map(verdictText).join("\n\n"));
      if (valid)
        call.terminal.out(
          `\nChecked as of ${asked_at} with keys from ${visibleLine(keys_from)}. It proves what was approved; whether it still stands, the service knows: countersign token show ${visibleLine(found[0]?.statement?.approval_id ?? "ID")}`,
        );
    }
    return valid ? exit.done : exit.failed;
  },
};

export const show: Command = {
  usage: "countersign token show APPROVAL_ID [--out FILE]",
  options: { out: string },
  takes: ["APPROVAL_ID"],
  about:
    "--out writes the bare JWS, of several tokens FILE.1, FILE.2 and so on; with --json all of them to FILE, as JSON.",
  async run(call) {
    const approval_id = call.args[0] ?? "";
    const out = newFile(call);
    const found = await call.client.get(`/api/approvals/${encodeURIComponent(approval_id)}/tokens`, issued);
    if (out !== null && found.items.length > 0) return tokensWritten(call, out, { approval_id, items: found.items });
    if (call.json) call.terminal.out(JSON.stringify(found));
    else if (found.items.length === 0) call.terminal.out("This approval has signed nothing.");
    else call.terminal.out(found.items.map(issuedText).join("\n\n"));
    // Who wanted a file and has none was not served.
    return out === null ? exit.done : exit.failed;
  },
};

export const keys: Command = {
  usage: "countersign token keys [--out FILE]",
  options: { out: string },
  takes: [],
  async run(call) {
    const out = newFile(call);
    const set = await call.client.get("/.well-known/jwks.json", keySet);
    if (out !== null) {
      writeNew(out, `${JSON.stringify(set)}\n`);
      return saidWritten(call, [out], countOf(set.keys.length, "key"));
    }
    call.terminal.out(JSON.stringify(set, null, call.json ? 0 : 2));
    return exit.done;
  },
};

function timeOf(text: string | undefined): number {
  if (text === undefined) return Date.now();
  const time = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new UsageError("--at is a time like 2026-01-31T12:00:00Z");
  return time;
}

async function contentOf(call: Call): Promise<string | null> {
  const [name = ""] = call.args;
  const path = resolve(call.terminal.cwd, name);
  const { input } = call.terminal;
  if (name === "-" && input === undefined) throw new UsageError("nothing is piped in: name a file");
  try {
    return await textOf(name === "-" && input !== undefined ? input : createReadStream(path));
  } catch (error) {
    if (error instanceof Error && "code" in error && "syscall" in error)
      throw new UsageError(`${visibleLine(name === "-" ? "standard input" : path)} cannot be read`);
    throw error;
  }
}
/** Null for what is too large or no text: no token is. */
async function textOf(source: AsyncIterable<Uint8Array>): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > limits.token_file_bytes) return null;
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    return null;
  }
}
/** One token by itself, or a list as the service answers it. */
function tokensIn(content: string | null): readonly string[] | null {
  const text = content?.trim() ?? "";
  if (!text.startsWith("{")) return text === "" ? null : [text];
  try {
    return manyTokens.parse(JSON.parse(text)).items.map((item) => item.jws);
  } catch {
    return null;
  }
}

async function keysFor(call: Call): Promise<{ keys: readonly PublicKey[]; keys_from: string }> {
  const [file, url] = [call.text("keys"), call.text("url")];
  if (file !== undefined && url !== undefined) throw new UsageError("give --keys or --url, not both");
  if (file !== undefined) return { keys: readKeys(resolve(call.terminal.cwd, file)), keys_from: file };
  if (url !== undefined) return { keys: await keysAt(checkedUrl(url, "--url")), keys_from: url };
  const { client } = call;
  return { keys: (await client.get("/.well-known/jwks.json", keySet)).keys, keys_from: client.url };
}
/** Asked without a token: the keys are public, and the address is only the one that was named. */
async function keysAt(base: string): Promise<readonly PublicKey[]> {
  const wanted = { redirect: "error", signal: AbortSignal.timeout(limits.token_keys_wait_ms) } as const;
  try {
    const response = await fetch(`${base}/.well-known/jwks.json`, wanted);
    if (!response.ok || response.body === null) throw new UsageError(`${visibleLine(base)} has no public keys`);
    return keySet.parse(JSON.parse((await textOf(response.body)) ?? "")).keys;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${visibleLine(base)} does not answer with public keys`);
  }
}

function newFile(call: Call): string | null {
  const out = call.text("out");
  return out === undefined ? null : absent(resolve(call.terminal.cwd, out));
}
function absent(path: string): string {
  if (existsSync(path)) throw new UsageError(`${visibleLine(path)} is there already: name another file`);
  return path;
}
/** A bare token is what any JOSE tool reads; all of them with how far they came is what `--json` asks for. */
function tokensWritten(call: Call, out: string, all: { approval_id: string; items: readonly IssuedToken[] }) {
  const said = countOf(all.items.length, "token");
  if (call.json) {
    writeNew(out, `${JSON.stringify(all)}\n`);
    return saidWritten(call, [out], said);
  }
  const files = all.items.length === 1 ? [out] : all.items.map((_, at) => absent(`${out}.${at + 1}`));
  for (const [at, { jws }] of all.items.entries()) writeNew(files[at] ?? out, `${jws}\n`);
  return saidWritten(call, files, said);
}
function writeNew(file: string, content: string): void {
  try {
    writeFileSync(file, content, { flag: "wx", mode: 0o600 });
  } catch {
    throw new UsageError(`${visibleLine(file)} cannot be written`);
  }
}
function saidWritten(call: Call, files: readonly string[], what: string) {
  const [first = "", last] = [files[0], files.length > 1 ? files.at(-1) : undefined];
  const named = visibleLine(last === undefined ? first : `${first} to ${last}`);
  call.terminal.out(call.json ? JSON.stringify({ file: first }) : `Written: ${named}, ${what}.`);
  return exit.done;
}
