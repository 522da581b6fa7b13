import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readJson, StartError, writePrivate } from "../../src/dev/files.ts";
import { beganAt } from "../../src/dev/processes.ts";
import { localSecrets } from "../../src/dev/secrets.ts";
import { lock, type StateFolder, serviceRecord, stateFolder } from "../../src/dev/state.ts";

let folder: StateFolder;
beforeEach(() => {
  folder = stateFolder(join(mkdtempSync(join(tmpdir(), "countersign-state-")), "deep", "state"));
});
afterEach(() => rmSync(join(folder.root, "../.."), { recursive: true, force: true }));

const mode = (path: string) => statSync(path).mode & 0o777;

describe("the lock", () => {
  it("[START-1] a second start on the same folder is refused and told where the first one runs", () => {
    const held = lock(folder);
    const running = { url: "http://127.0.0.1:8787", scope: "s", token_file: folder.token, pid: process.pid };
    writePrivate(folder.service, JSON.stringify(serviceRecord.parse(running)));
    expect(() => lock(folder)).toThrow(new RegExp(`http://127.0.0.1:8787 \\(process ${process.pid}\\)`));
    held.release();
    lock(folder).release();
    expect(existsSync(folder.lock)).toBe(false);
  });

  it("[START-2] the lock of a process that is gone, or of another with its id, is taken over", () => {
    for (const stale of [
      { pid: 2 ** 22 + 1, began: "x:1" },
      { pid: process.pid, began: "other:1" },
    ]) {
      writeFileSync(folder.lock, JSON.stringify(stale));
      const held = lock(folder);
      expect(JSON.parse(readFileSync(folder.lock, "utf8"))).toEqual({ pid: process.pid, began: beganAt(process.pid) });
      held.release();
    }
  });

  it("[START-2] a half-written lock is stale, and nothing of the taking over stays behind", () => {
    writeFileSync(folder.lock, '{"pid":');
    lock(folder).release();
    expect(existsSync(`${folder.lock}.${process.pid}`)).toBe(false);
    expect(existsSync(`${folder.lock}.stale.${process.pid}`)).toBe(false);
  });

  it("[START-1] releasing twice, or after somebody else took it, removes nobody's lock", () => {
    const held = lock(folder);
    held.release();
    const next = lock(folder);
    writeFileSync(folder.lock, "somebody else");
    next.release();
    expect(readFileSync(folder.lock, "utf8")).toBe("somebody else");
  });
});

describe("the folder", () => {
  it("[START-6] is its owner's only", () => {
    expect(mode(folder.root)).toBe(0o700);
    expect(mode(folder.persist)).toBe(0o700);
  });

  it("[START-6] that was there before keeps its mode, while what is kept in it stays private", () => {
    chmodSync(folder.root, 0o755);
    const again = stateFolder(folder.root);
    localSecrets(again);
    expect(mode(again.root)).toBe(0o755);
    expect(mode(again.secrets)).toBe(0o600);
  });

  it("[START-2] a file in it that is damaged is named", () => {
    writeFileSync(folder.service, "{");
    expect(() => readJson(folder.service, serviceRecord)).toThrow(folder.service);
    expect(readJson(join(folder.root, "absent"), serviceRecord)).toBeNull();
  });

  it("[START-2] that cannot be made is one clear line", () => {
    writeFileSync(join(folder.root, "file"), "");
    expect(() => stateFolder(join(folder.root, "file", "state"))).toThrow(StartError);
  });
});

describe("secrets", () => {
  it("[START-6] are made once, privately, and are the same at the next start", () => {
    const first = localSecrets(folder);
    expect(mode(folder.secrets)).toBe(0o600);
    expect(localSecrets(folder)).toEqual(first);
    const keys = JSON.parse(first.SIGNING_KEYS);
    expect(keys.keys[keys.active]).toMatchObject({ private: { kty: "OKP", crv: "Ed25519" }, public: { kty: "OKP" } });
    expect(keys.keys[keys.active].public.d).toBeUndefined();
  });

  it("[START-6] that were opened to others are closed again", () => {
    localSecrets(folder);
    chmodSync(folder.secrets, 0o644);
    localSecrets(folder);
    expect(mode(folder.secrets)).toBe(0o600);
  });

  it("[START-6] that are damaged stop the start, and are not replaced", () => {
    localSecrets(folder);
    const text = readFileSync(folder.secrets, "utf8").replace(/^SCOPE_MAC_KEY=.*$/m, "SCOPE_MAC_KEY='short'");
    writeFileSync(folder.secrets, text);
    expect(() => localSecrets(folder)).toThrow(/SCOPE_MAC_KEY/);
    expect(readFileSync(folder.secrets, "utf8")).toBe(text);
  });
});
