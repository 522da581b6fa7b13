import { describe, expect, it } from "vitest";
import { readEvent } from "../../src/domain/github/events.ts";
import type { Happening } from "../../src/domain/github/shapes.ts";
import { defaultTriggers, type Triggers, triggers } from "../../src/domain/github/triggers.ts";
import {
  check,
  comment,
  identity,
  ids,
  issue,
  maintainer,
  otherBot,
  ourBot,
  payload,
  pull,
  sha,
  stranger,
} from "../fakes/github-payloads.ts";

function read(event: string, sent: unknown, set: Partial<Triggers> = {}) {
  return readEvent(event, sent, identity, { ...defaultTriggers, ...set });
}
function found(event: string, sent: unknown, set: Partial<Triggers> = {}): Happening {
  const reading = read(event, sent, set);
  if (reading.kind !== "happening") throw new Error(`nothing happened: ${JSON.stringify(reading)}`);
  return reading.happening;
}
function why(event: string, sent: unknown, set: Partial<Triggers> = {}): string {
  const reading = read(event, sent, set);
  return reading.kind === "ignored" ? reading.why : reading.kind;
}
const person = (of: { id: number; login: string; type: string }) => ({
  id: of.id,
  login: of.login,
  is_bot: of.type === "Bot",
});
const labeled = (name = "countersign", more = {}) => payload("labeled", { issue: issue(more), label: { name } });

describe("what begins a task", () => {
  it("[GHI-3] a wish holds who set it off, the thread, and each text with who wrote it", () => {
    expect(read("issues", labeled("Countersign"))).toEqual({
      kind: "happening",
      repository: {
        id: ids.repository,
        installation_id: ids.installation,
        full_name: "octo/pager",
        private: false,
        default_branch: "main",
      },
      happening: {
        kind: "wish",
        trigger: "label",
        by: person(maintainer),
        thread: {
          kind: "issue",
          number: 5,
          title: "The pager loses a page",
          url: "https://github.com/octo/pager/issues/5",
          head: null,
        },
        texts: [{ by: person(stranger), text: "It does.", cut: false }],
        labels: ["bug", "countersign"],
        label: "Countersign",
        follows: null,
        comment_id: null,
        at: "2026-11-22T09:00:00Z",
      },
    });
    const asked = found(
      "issue_comment",
      payload("created", { issue: issue(), comment: comment("/countersign go on") }),
    );
    expect(asked).toMatchObject({
      trigger: "comment",
      texts: [
        { by: { login: "stranger" }, text: "It does." },
        { by: { login: "maintainer" }, text: "/countersign go on" },
      ],
      label: null,
      comment_id: 900,
      at: "2026-11-22T10:00:00Z",
    });
    expect(found("issues", labeled("countersign", { user: null, body: null }))).toMatchObject({
      texts: [{ by: { login: "ghost" }, text: "" }],
    });
  });
  it("[GHI-2] label, assignment, review request: each when it is meant for us", () => {
    const assigned = (login: string, kind: "issue" | "pull_request" = "issue") =>
      payload("assigned", {
        [kind]: kind === "issue" ? issue() : pull(),
        assignee: { id: 8, login, type: "User" },
      });
    const asked = (login: string) =>
      payload("review_requested", { pull_request: pull(), requested_reviewer: { id: 8, login, type: "User" } });
    expect(
      found("pull_request", payload("labeled", { pull_request: pull(), label: { name: "countersign" } })),
    ).toMatchObject({
      trigger: "label",
      follows: "countersign/t1",
      thread: { kind: "pull", head: { branch: "countersign/t1", sha } },
    });
    expect(found("issues", assigned("Countersign[bot]"))).toMatchObject({ trigger: "assignment" });
    expect(found("issues", assigned("helper"), { logins: ["Helper"] })).toMatchObject({ trigger: "assignment" });
    expect(found("pull_request", assigned("countersign[bot]", "pull_request"))).toMatchObject({
      trigger: "assignment",
    });
    expect(found("pull_request", asked("helper"), { logins: ["helper"] })).toMatchObject({ trigger: "review_request" });
    expect(why("issues", labeled("bug"))).toBe("other_label");
    expect(why("issues", assigned("helper"))).toBe("other_person");
    expect(why("pull_request", asked("helper"))).toBe("other_person");
    expect(why("pull_request", payload("review_requested", { pull_request: pull(), requested_team: { id: 1 } }))).toBe(
      "other_person",
    );
  });
  it("[GHI-20] each trigger can be set off; by default only review comments and bots are", () => {
    expect(defaultTriggers).toEqual({
      label: { on: true, name: "countersign" },
      assignment: true,
      comment: true,
      review_request: true,
      review_comment: false,
      failed_check: true,
      bots: [],
      logins: [],
    });
    expect(triggers.parse({ label: { name: "agent" } }).label).toEqual({ on: true, name: "agent" });
    for (const wrong of [
      { labels: true },
      { bots: ["no body"] },
      { label: { name: " " } },
      { logins: Array(51).fill("a") },
    ])
      expect(triggers.safeParse(wrong).success).toBe(false);
    const off = (set: Partial<Triggers>, event: string, sent: unknown) =>
      expect(why(event, sent, set)).toBe("trigger_off");
    off({ label: { on: false, name: "countersign" } }, "issues", labeled());
    off({ assignment: false }, "issues", payload("assigned", { issue: issue(), assignee: ourBot }));
    off(
      { review_request: false },
      "pull_request",
      payload("review_requested", { pull_request: pull(), requested_reviewer: ourBot }),
    );
    off(
      { comment: false },
      "issue_comment",
      payload("created", { issue: issue(), comment: comment("/countersign x y") }),
    );
    off({ failed_check: false }, "check_run", payload("completed", { check_run: check() }));
    expect(found("issues", labeled("agent"), { label: { on: true, name: "Agent" } })).toMatchObject({ label: "agent" });
  });
  it("[GHI-17] a review comment begins a task by command, or by itself on a branch of ours where that is on", () => {
    const sent = (body: string, branch?: string, from?: number) =>
      payload("created", {
        pull_request: pull(branch, {}, from),
        comment: comment(body, { path: "src/p.ts", line: 4 }),
      });
    const event = "pull_request_review_comment";
    expect(found(event, sent("/countersign do it"))).toMatchObject({ trigger: "comment", follows: "countersign/t1" });
    expect(why(event, sent("Use a loop"))).toBe("no_command");
    const on = { review_comment: true };
    expect(found(event, sent("Use a loop"), on)).toMatchObject({
      trigger: "review_comment",
      texts: [{}, { text: "Use a loop", place: { path: "src/p.ts", line: 4 }, by: { login: "maintainer" } }],
      comment_id: 900,
    });
    expect(why(event, sent("Use a loop", "fix-1"), on)).toBe("no_command");
    // Where any comment is heard, our name before it is no matter.
    expect(found(event, sent("@countersign use a loop"), on)).toMatchObject({ trigger: "review_comment" });
    expect(found(event, sent("@countersign use a loop"))).toMatchObject({ what: "unclear" });
    expect(found(event, sent("**/countersign approve**"), on)).toMatchObject({ what: "unclear" });
    expect(why(event, sent("Use a loop", "countersign/t1", 55), on)).toBe("no_command");
    const review = payload("submitted", {
      pull_request: pull(),
      review: { id: 31, user: maintainer, body: "Use a loop", submitted_at: "2026-11-22T10:00:00Z" },
    });
    expect(found("pull_request_review", review, on)).toMatchObject({ trigger: "review_comment", comment_id: null });
    expect(why("pull_request_review", payload("submitted", { pull_request: pull(), review: comment(null) }), on)).toBe(
      "no_command",
    );
  });
  it("[GHI-15] somebody else's failed check on a branch of ours begins one by nobody, told by the check's App", () => {
    expect(
      found("check_run", payload("completed", { check_run: check({ conclusion: "timed_out" }) }, ourBot)),
    ).toMatchObject({
      kind: "wish",
      trigger: "failed_check",
      by: null,
      follows: "countersign/t1",
      thread: { kind: "pull", number: 6, url: "https://github.com/octo/pager/pull/6" },
      texts: [
        {
          by: { login: "github-actions[bot]", is_bot: true },
          text: "The check test ended as timed_out.\n\n2 failed\n\npager.test.ts",
        },
      ],
    });
    const no = (more: Record<string, unknown>) => why("check_run", payload("completed", { check_run: check(more) }));
    expect(no({ conclusion: "success" })).toBe("not_failed");
    expect(no({ conclusion: "cancelled" })).toBe("not_failed");
    expect(no({ app: { id: identity.app_id, slug: "countersign" } })).toBe("self");
    expect(no({ check_suite: { head_branch: "main" } })).toBe("not_ours");
    expect(no({ check_suite: { head_branch: null } })).toBe("not_ours");
    expect(no({ pull_requests: [] })).toBe("no_pull");
    expect(no({ head_sha: sha.replace("0", "f") })).toBe("outdated");
  });
  it("[GHI-16] a fork's branch is never ours, whatever it is called", () => {
    const fork = pull("countersign/t1", {}, 55);
    expect(
      found("pull_request", payload("labeled", { pull_request: fork, label: { name: "countersign" } })),
    ).toMatchObject({
      follows: null,
      thread: { head: null },
    });
    for (const head of [null, { ref: "countersign/t1", sha, repo: null }, { ref: "countersign/t1", sha: "x" }])
      expect(
        found(
          "pull_request",
          payload("labeled", { pull_request: pull("x", { head }), label: { name: "countersign" } }),
        ),
      ).toMatchObject({ follows: null, thread: { head: null } });
    const check6 = check({ pull_requests: [{ number: 6, head: { ref: "countersign/t1", sha, repo: { id: 55 } } }] });
    expect(why("check_run", payload("completed", { check_run: check6 }))).toBe("no_pull");
  });
});

describe("what decides", () => {
  it("[GHI-12] a command in a comment, with what it names and when it was said", () => {
    const said = (body: string, set: Partial<Triggers> = {}) =>
      found("issue_comment", payload("created", { issue: issue(), comment: comment(body) }), set);
    expect(said("/countersign approve 0123456789ab", { comment: false })).toEqual({
      kind: "decision",
      what: "approve",
      by: person(maintainer),
      reason: null,
      hash: "0123456789ab",
      via: "comment",
      said_at: "2026-11-22T10:00:00Z",
      thread: expect.objectContaining({ number: 5, kind: "issue" }),
      task_id: null,
    });
    expect(said("/countersign deny too big")).toMatchObject({ what: "deny", reason: "too big", hash: null });
    expect(said("/countersign deny 0123456789AB too big")).toEqual({
      ...said("/countersign deny too big"),
      hash: "0123456789ab",
    });
    expect(said("/countersign help")).toMatchObject({ kind: "decision", what: "help" });
    expect(said("@countersign /countersign fix it")).toMatchObject({ kind: "decision", what: "unclear" });
    expect(said("/countersign cancel")).toMatchObject({ what: "cancel", reason: null });
    expect(said("/countersign status")).toMatchObject({ what: "status" });
    const on = payload("created", {
      issue: issue({ pull_request: { url: "x" } }),
      comment: comment("/countersign status"),
    });
    expect(found("issue_comment", on)).toMatchObject({ thread: { kind: "pull", head: null } });
    const undated = payload("created", {
      issue: issue(),
      comment: comment("/countersign approve", { created_at: "now" }),
    });
    expect(why("issue_comment", undated)).toBe("malformed");
    expect(said("/countersign cancel t12345678")).toMatchObject({ what: "cancel", task_id: "t12345678" });
    expect(said("/countersign approve it all")).toMatchObject({ what: "unclear", hash: null, task_id: null });
    expect(Object.hasOwn(said("/countersign cancel"), "app")).toBe(false);
    for (const app of [{ id: 8 }, { id: "x" }, {}, "x", undefined]) {
      const through = comment("/countersign cancel", { performed_via_github_app: app });
      const event = JSON.parse(JSON.stringify(payload("created", { issue: issue(), comment: through })));
      expect(found("issue_comment", event), JSON.stringify(app)).toMatchObject({ what: "cancel", app: true });
    }
  });
  it("[GHI-50] in a review or a comment on code nothing is decided: GitHub does not say there whether an App wrote it", () => {
    const at = { created_at: "2026-11-22T10:00:00Z", submitted_at: "2026-11-22T10:00:00Z" };
    const inReview = (event: string, body: string) => {
      const said = comment(body, { ...at, path: "src/p.ts", line: 4 });
      const review = event === "pull_request_review";
      return found(
        event,
        payload(review ? "submitted" : "created", { pull_request: pull(), [review ? "review" : "comment"]: said }),
      );
    };
    for (const event of ["pull_request_review", "pull_request_review_comment"]) {
      for (const words of [
        "approve",
        "approve 0123456789ab",
        "deny",
        "deny 0123456789ab no",
        "cancel",
        "cancel t12345678",
      ])
        expect(inReview(event, `/countersign ${words}`), words).toMatchObject({
          ...{ kind: "decision", what: "misplaced", hash: null, reason: null, task_id: null },
        });
      expect(inReview(event, "/countersign status")).toMatchObject({ what: "status" });
      expect(inReview(event, "/countersign fix it")).toMatchObject({ kind: "wish" });
    }
  });
  it("[GHI-14] a button of our own check, by its task and its hash; nobody else's button", () => {
    const ours = { app: { id: identity.app_id, slug: "countersign" } };
    const pressed = (identifier: string, more: Record<string, unknown> = {}, sender = maintainer) =>
      payload("requested_action", { check_run: check({ ...ours, ...more }), requested_action: { identifier } }, sender);
    const button = {
      kind: "decision",
      via: "button",
      thread: null,
      task_id: "task-1",
      by: person(maintainer),
      reason: null,
    };
    expect(found("check_run", pressed("approve:0123456789ab"))).toMatchObject({
      ...button,
      what: "approve",
      hash: "0123456789ab",
    });
    expect(found("check_run", pressed("deny:0123456789ab"))).toMatchObject({
      ...button,
      what: "deny",
      hash: "0123456789ab",
    });
    expect(found("check_run", pressed("cancel"))).toMatchObject({ ...button, what: "cancel", hash: null });
    for (const identifier of [
      "approve",
      "approve:",
      "approve:0123456789",
      "approve:0123456789abc",
      "approve:0123456789AB",
      "cancel:0123456789ab",
      "",
      "cancel ",
    ])
      expect(why("check_run", pressed(identifier)), identifier).toBe("unknown_button");
    expect(why("check_run", pressed("cancel", { app: { id: 15368, slug: "github-actions" } }))).toBe("not_ours");
    expect(why("check_run", pressed("cancel", { external_id: "" }))).toBe("malformed");
    expect(why("check_run", pressed("cancel", {}, ourBot))).toBe("self");
    expect(why("check_run", pressed("cancel", {}, otherBot))).toBe("bot");
  });
});
