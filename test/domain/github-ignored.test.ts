import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/domain/canonical.ts";
import { addressOf, readEvent } from "../../src/domain/github/events.ts";
import { type Happening, happening } from "../../src/domain/github/shapes.ts";
import { defaultTriggers, type Triggers } from "../../src/domain/github/triggers.ts";
import { limits } from "../../src/limits.ts";
import {
  check,
  comment,
  identity,
  issue,
  maintainer,
  otherBot,
  ourBot,
  payload,
  pull,
  repository,
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
const labeled = (name = "countersign", more = {}) => payload("labeled", { issue: issue(more), label: { name } });

describe("what changed", () => {
  it("[GHI-13] edits, deletions, closing and the label taken away are told, and trigger nothing", () => {
    for (const [event, action, what] of [
      ["issues", "edited", "edited"],
      ["issues", "deleted", "deleted"],
      ["issues", "transferred", "deleted"],
      ["issues", "closed", "closed"],
      ["issues", "reopened", "reopened"],
      ["pull_request", "edited", "edited"],
      ["pull_request", "closed", "closed"],
      ["pull_request", "reopened", "reopened"],
    ] as const) {
      const about = event === "issues" ? { issue: issue({ body: "/countersign x" }) } : { pull_request: pull() };
      expect(found(event, payload(action, about)), `${event}.${action}`).toMatchObject({
        kind: "changed",
        what,
        comment_id: null,
      });
    }
    const off = payload("unlabeled", { issue: issue(), label: { name: "countersign" } });
    expect(found("issues", off)).toMatchObject({ kind: "changed", what: "unlabeled" });
    expect(why("issues", payload("unlabeled", { issue: issue(), label: { name: "bug" } }))).toBe("other_label");
    for (const event of ["issue_comment", "pull_request_review_comment"])
      for (const action of ["edited", "deleted"]) {
        const on = event === "issue_comment" ? { issue: issue() } : { pull_request: pull() };
        const about = { ...on, comment: comment("/countersign approve") };
        expect(found(event, payload(action, about))).toMatchObject({ kind: "changed", what: action, comment_id: 900 });
      }
  });
});

describe("what is let go by", () => {
  it("[GHI-4] ourselves always, other bots unless they are listed", () => {
    const by = (sender: typeof ourBot, set: Partial<Triggers> = {}) =>
      why("issues", payload("labeled", { issue: issue(), label: { name: "countersign" } }, sender), set);
    expect(by(ourBot)).toBe("self");
    expect(by(ourBot, { bots: ["countersign[bot]"] })).toBe("self");
    expect(by({ ...ourBot, login: "Countersign[bot]" })).toBe("self");
    expect(by(otherBot)).toBe("bot");
    expect(by({ ...otherBot, type: "User" })).toBe("bot");
    expect(by(otherBot, { bots: ["Renovate[bot]"] })).toBe("happening");
    const own = (more: object, action = "edited") =>
      why("issue_comment", payload(action, { issue: issue(), comment: comment("/countersign approve", { ...more }) }));
    expect(own({ user: ourBot })).toBe("self");
    expect(own({ performed_via_github_app: { id: identity.app_id } }, "created")).toBe("self");
    expect(own({ performed_via_github_app: { id: 1 } }, "created")).toBe("happening");
  });
  it("[GHI-4] a ping, an event or action that begins nothing, no installation, fields that are missing", () => {
    expect(why("ping", { zen: "x" })).toBe("ping");
    for (const event of ["push", "star", "workflow_run", "constructor", "__proto__"])
      expect(why(event, payload("x", {}))).toBe("unknown_event");
    for (const [event, action] of [
      ["issues", "opened"],
      ["pull_request", "synchronize"],
      ["check_run", "created"],
      ["installation", "x"],
      ["repository", "edited"],
    ] as const)
      expect(why(event, payload(action, { issue: issue() }))).toBe("unknown_action");
    expect(why("issues", { ...labeled(), installation: undefined })).toBe("no_installation");
    for (const missing of ["repository", "sender", "issue"])
      expect(why("issues", { ...labeled(), [missing]: 5 })).toBe("malformed");
    for (const sent of [null, 5, "x", []]) expect(why("issues", sent)).toBe("malformed");
  });
  it("[GHI-2] what happens to installations and repositories is the App's to ask about", () => {
    const account = { id: 9, login: "octo", type: "Organization" };
    for (const [event, action] of [
      ["installation", "created"],
      ["installation", "deleted"],
      ["installation", "suspend"],
      ["installation", "unsuspend"],
      ["installation", "new_permissions_accepted"],
      ["installation_repositories", "added"],
      ["installation_repositories", "removed"],
      ["installation_target", "renamed"],
      ["repository", "renamed"],
      ["repository", "transferred"],
      ["repository", "privatized"],
      ["repository", "publicized"],
      ["repository", "deleted"],
    ]) {
      const sent = { action, installation: { id: 77, account }, sender: ourBot };
      expect(addressOf(event ?? "", sent)).toEqual({
        kind: "installation",
        installation: { event, action, installation_id: 77, account: "octo" },
      });
    }
    expect(addressOf("repository", payload("renamed", {}))).toMatchObject({ installation: { account: null } });
  });
});

it("[GHI-3] when a thing was asked stands with it, unless GitHub says nothing of use", () => {
  const odd = [undefined, "", "yesterday", "2026-11-22T25:00:00Z", `2026-11-22T09:00:00Z${"0".repeat(90)}`];
  for (const updated_at of odd)
    expect(Object.hasOwn(found("issues", labeled("countersign", { updated_at })), "at")).toBe(false);
  expect(found("issues", labeled())).toMatchObject({ at: "2026-11-22T09:00:00Z" });
});

describe("an event's name", () => {
  it("[GHI-48] stands beside what is signed: a payload counts only as what it is", () => {
    const deleted = payload("deleted", { issue: issue(), comment: comment("x") });
    expect([why("issue_comment", deleted), why("issues", deleted)]).toEqual(["happening", "malformed"]);
    const review = payload("edited", { pull_request: pull(), comment: comment("x") });
    for (const event of ["issue_comment", "pull_request", "pull_request_review"])
      expect(["malformed", "unknown_action"], event).toContain(why(event, review));
    expect(why("pull_request_review_comment", review)).toBe("happening");
    expect(why("issues", { ...payload("closed", { issue: issue() }), check_run: null })).toBe("malformed");
  });
});

/** What the event's payload holds of all that some event's does. */
function only(event: string, given: unknown): unknown {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given;
  const part =
    { issues: "issue", check_run: "check_run" }[event] ?? (event === "issue_comment" ? "issue" : "pull_request");
  const beside = event.endsWith("comment") ? "comment" : event.endsWith("review") ? "review" : part;
  const parts = ["issue", "pull_request", "comment", "review", "check_run"];
  return Object.fromEntries(
    Object.entries(given).filter(([key]) => !parts.includes(key) || key === part || key === beside),
  );
}

describe("any JSON at all", () => {
  const events = [
    "issues",
    "issue_comment",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "check_run",
    "installation",
    "repository",
    "ping",
  ];
  it("[GHI-1] is read without a throw, into what the contract allows or nothing", () => {
    const odd = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom<unknown>(null, -1, 1e300, "\ud800", "x".repeat(3_000), [], {}),
    );
    // Weighted, so that some of them are whole in every run.
    const mostly = (value: unknown) => fc.oneof({ arbitrary: fc.constant(value), weight: 9 }, odd);
    const sent = fc.record({
      action: fc.constantFrom("labeled", "created", "completed", "requested_action", "assigned", "submitted", "edited"),
      installation: mostly({ id: 77 }),
      repository: mostly(repository),
      sender: mostly(maintainer),
      issue: fc.oneof(
        { arbitrary: fc.constant<unknown>(issue()), weight: 9 },
        fc.record({
          number: fc.oneof(fc.constant(5), odd),
          title: odd,
          body: odd,
          user: odd,
          labels: odd,
          html_url: odd,
          pull_request: odd,
        }),
      ),
      pull_request: fc.option(
        fc.record({ number: fc.oneof(fc.constant(5), odd), head: odd, base: odd, body: odd, labels: odd }),
      ),
      label: mostly({ name: "countersign" }),
      assignee: odd,
      comment: mostly(comment("/countersign deny \ud800")),
      review: odd,
      check_run: mostly(check()),
      requested_action: odd,
    });
    let found = 0;
    fc.assert(
      fc.property(fc.constantFrom(...events), fc.oneof(sent, odd), (event, given) => {
        const reading = read(event, only(event, given), { review_comment: true });
        if (reading.kind !== "happening") return;
        found += 1;
        expect(happening.safeParse(reading.happening).success).toBe(true);
        canonicalJson(reading.happening);
      }),
      { numRuns: 600 },
    );
    expect(found).toBeGreaterThan(0);
  });
  it("[GHI-1] texts are cut to what a message can carry, and say so", () => {
    const long = "\u0001".repeat(limits.github_text_chars + 1);
    const asked = payload("created", {
      pull_request: pull("countersign/t1", {
        ...{ body: long, title: "t".repeat(5_000), labels: Array(500).fill({ name: "\u0001".repeat(500) }) },
      }),
      comment: comment(long),
    });
    const made = found("pull_request_review_comment", asked, { review_comment: true });
    expect(made).toMatchObject({ texts: [{ cut: true }, { cut: true }], thread: { title: "t".repeat(1_000) } });
    expect(canonicalJson(made).length).toBeLessThan(limits.message_bytes);
    const half = found("issues", labeled("countersign", { body: `${"x".repeat(limits.github_text_chars - 1)}😀` }));
    expect(half).toMatchObject({ texts: [{ cut: true }] });
    canonicalJson(half);
    const deep = JSON.parse(`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`) as object;
    expect(why("issues", { ...labeled(), extra: deep, issue: deep })).toBe("malformed");
  });
});
