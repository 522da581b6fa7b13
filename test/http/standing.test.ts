/** The doors of standing approvals: who may ask what, what reaches the runtime, and what it answers. */
import { describe, expect, it } from "vitest";
import { elsewhere } from "../fakes/door-ports.ts";
import { standingBody, standingOf } from "../fakes/standing-door.ts";
import { world } from "./world.ts";

const path = "/api/standing-approvals";

describe("the doors of standing approvals", () => {
  it("[HTTP-115] anybody of the scope lists and reads them; what another scope has is not there", async () => {
    const { ask, runtime, deployment } = world();
    for (const id of ["s1", "s2", "s3"]) runtime.standingRows.set(id, standingOf(id));
    deployment.runtime(elsewhere).standingRows.set("theirs", standingOf("theirs"));
    const first = (await ask("GET", `${path}?limit=2`, { as: "viewer" })).body;
    expect(first.items.map(({ id }: { id: string }) => id)).toEqual(["s3", "s2"]);
    const rest = (await ask("GET", `${path}?limit=2&cursor=${first.next_cursor}`, { as: "viewer" })).body;
    expect([rest.items.length, rest.next_cursor]).toEqual([1, null]);
    expect((await ask("GET", `${path}/s1`, { as: "viewer" })).body).toEqual(standingOf("s1"));
    for (const id of ["theirs", "none", "a%2Fb"])
      expect((await ask("GET", `${path}/${id}`, { as: "admin" })).body.code).toBe("standing_approval_not_found");
    expect((await ask("GET", path)).status).toBe(401);
  });

  it("[HTTP-116] an approver makes one; bounds left out are closed, and repositories are named as tasks name them", async () => {
    const { ask, runtime } = world();
    const repos = ["https://git.example/a/b/", "HTTPS://git.example//c"];
    const body = { ...standingBody, bounds: { ...standingBody.bounds, repos } };
    const made = await ask("POST", path, { as: "approver", body });
    expect([made.status, made.headers.get("location")]).toEqual([201, `${path}/standing-1`]);
    expect(made.body).toMatchObject({ status: "active", made_by: "a approver", uses_left: 3 });
    expect(runtime.standingRows.get("standing-1")?.bounds).toMatchObject({
      ...{ hosts: [], secrets: [], taint: "member", runners: ["steps"] },
      repos: ["https://git.example/a/b", "https://git.example/c"],
    });
    for (const as of ["viewer", "submitter"] as const)
      expect((await ask("POST", path, { as, body: standingBody })).body.needs).toBe("approver");
  });

  it("[HTTP-117] what does not hold is refused with the field that is wrong, and nothing is made", async () => {
    const { ask, runtime } = world();
    const wrong = async (more: object, within: object = {}) => {
      const body = { ...standingBody, ...more, bounds: { ...standingBody.bounds, ...within } };
      const { status, body: answer } = await ask("POST", path, { as: "approver", body });
      return [status, answer.errors?.[0]?.path ?? answer.code];
    };
    expect(await wrong({ uses: 0 })).toEqual([400, "uses"]);
    expect(await wrong({ until: "soon" })).toEqual([400, "until"]);
    expect(await wrong({ forever: true })).toEqual([400, "forever"]);
    expect(await wrong({}, { who: [] })).toEqual([400, "bounds.who"]);
    expect(await wrong({}, { verify: [] })).toEqual([400, "bounds.verify"]);
    expect(await wrong({}, { paths: ["/etc/**"] })).toEqual([400, "bounds.paths.0"]);
    expect(await wrong({}, { commands: ["a | b"] })).toEqual([400, "bounds.commands.0"]);
    expect(await wrong({}, { repos: ["https://10.0.0.1/a"] })).toEqual([422, "repo_not_allowed"]);
    expect(runtime.calls).not.toContain("addStandingApproval");
  });

  it("[HTTP-118] the same Idempotency-Key makes one, and another body under it is refused", async () => {
    const { ask, runtime } = world();
    const headers = { "idempotency-key": "k1" };
    const first = await ask("POST", path, { as: "approver", body: standingBody, headers });
    const again = await ask("POST", path, { as: "approver", body: standingBody, headers });
    expect([again.status, again.body, again.headers.get("idempotent-replay")]).toEqual([201, first.body, "true"]);
    const other = await ask("POST", path, { as: "approver", body: { ...standingBody, uses: 9 }, headers });
    expect(other.body.code).toBe("idempotency_mismatch");
    expect(runtime.standingRows.size).toBe(1);
  });

  it("[HTTP-119] an approver revokes with a reason; again it answers as it stands", async () => {
    const { ask, runtime } = world();
    runtime.standingRows.set("s1", standingOf("s1"));
    const revoke = (id: string, body: object, as: "submitter" | "approver" = "approver") =>
      ask("DELETE", `${path}/${id}`, { as, body });
    expect((await revoke("s1", {})).status).toBe(400);
    expect((await revoke("s1", { reason: "  " })).status).toBe(400);
    expect((await revoke("s1", { reason: "x" }, "submitter")).status).toBe(403);
    expect((await revoke("none", { reason: "x" })).body.code).toBe("standing_approval_not_found");
    const done = await revoke("s1", { reason: " too wide " });
    expect(done.body).toMatchObject({ status: "revoked", ended: { by: "a approver", reason: "too wide" } });
    expect((await revoke("s1", { reason: "again" })).body).toEqual(done.body);
    expect((await ask("DELETE", `${path}/s1`, { as: "approver" })).status).toBe(415);
  });
});
