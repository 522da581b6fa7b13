/** What git's container is handed with a bundle in it, and how large that may be. */
import { describe, expect, it } from "vitest";
import { readCall, readUpTo, textOf, writeCall } from "../../src/adapters/container-bundle.ts";
import { gitName } from "../../src/adapters/container-sandboxes.ts";
import { limits } from "../../src/limits.ts";
import { commit, deployment, source } from "../fakes/small-containers.ts";

const utf8 = new TextEncoder();
function sent(pieces: readonly Uint8Array[]): Request {
  const left = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    pull: (to) => {
      const piece = left.shift();
      if (piece === undefined) to.close();
      else to.enqueue(piece);
    },
  });
  return new Request("http://container/v1/publish", { method: "POST", body, duplex: "half" } as RequestInit);
}

describe("a bundle on its way to git's container", () => {
  it("[CON-20] it passes as the bytes it came in, however they come, and the rest is read and written anew", async () => {
    const text = JSON.stringify({ branch: 'a"bundle":"b', commit, bundle: "QUJD+/8=", source, credential: 7 });
    for (let piece = 1; piece <= text.length; piece += 1) {
      const pieces: Uint8Array[] = [];
      for (let at = 0; at < text.length; at += piece) pieces.push(utf8.encode(text.slice(at, at + piece)));
      const { document, bundle } = await readCall(sent(pieces));
      expect(document).toEqual({ branch: 'a"bundle":"b', commit, bundle: "", source, credential: 7 });
      expect(textOf(bundle ?? [])).toBe("QUJD+/8=");
      // As often as it is sent: each time the same.
      for (const _ of ["once", "again"]) {
        const body = new Response(writeCall({ source, n: 1 }, bundle)).body;
        const written = JSON.parse(textOf((await readUpTo(body, 10_000)) ?? []));
        expect(written).toEqual({ source, n: 1, bundle: "QUJD+/8=" });
      }
    }
    const none = await readCall(sent([utf8.encode(JSON.stringify({ ref: '"bundle":"', source }))]));
    expect(none).toEqual({ document: { ref: '"bundle":"', source }, bundle: null });
    const empty = await readCall(sent([utf8.encode(JSON.stringify({ bundle: "", source }))]));
    expect([empty.document, textOf(empty.bundle ?? [])]).toEqual([{ bundle: "", source }, ""]);
  });

  it("[CON-20] more than an object can hold is refused before a container starts, and says what to do", async () => {
    const d = deployment();
    const piece = new Uint8Array(1024 * 1024).fill(65);
    const pieces = [
      utf8.encode('{"bundle":"'),
      ...Array(limits.container_bundle_body_bytes / piece.length).fill(piece),
    ];
    const refused = await d.box(gitName("contract")).answer(sent(pieces));
    expect(await refused.json()).toMatchObject({
      code: "patch_too_large",
      retryable: false,
      message: expect.stringMatching(/64 MB.*split the work/),
    });
    expect(d.machine(gitName("contract")).starts).toEqual([]);
  });

  it("[CON-20] what git's container answers is no longer than git has to say", async () => {
    const d = deployment();
    d.machine(gitName("contract")).inside = async () => "x".repeat(limits.container_short_answer_bytes);
    const refused = expect.stringContaining("too long");
    await expect(d.sandboxes.resolve(source, "HEAD")).rejects.toMatchObject({ code: "internal", message: refused });
  });
});
