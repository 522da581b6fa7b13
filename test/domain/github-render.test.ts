/** How a task looks on GitHub: its comment, its check run and its pull request, by where it stands. */
import { describe, expect, it } from "vitest";
import { checkLook } from "../../src/domain/github/check.ts";
import { commentBody } from "../../src/domain/github/comment.ts";
import { pullText } from "../../src/domain/github/pull.ts";
import type { GithubStanding } from "../../src/domain/github/standing.ts";
import { counted } from "../../src/domain/github/words.ts";
import { approvalKinds, taskStatuses } from "../../src/domain/view.ts";
import { doneStanding, shaOf, standingOf, waitingStanding } from "../fakes/github.ts";

const links = {
  check: "https://github.com/octo/sample/runs/5",
  pull: "https://github.com/octo/sample/pull/6",
  shows: true,
};
const hash = "abcdef012345";

describe("a comment", () => {
  it("[GHO-37] says where the task stands, what was asked and by whom, its plan, its items, its cost, its end and what is to be said", () => {
    const body = commentBody(standingOf({ ...doneStanding, note: "A second label changed nothing." }), links);
    for (const said of [
      "**Countersign: Verified and published**",
      "Task: Make it faster",
      "Asked for by github:alice. · [Task page](https://countersign.example/tasks/tabcdefgh2345678) · [Check](",
      "Plan 1: Cache it\n\n> Reads are cached.",
      "- [x] Add a cache\n- [ ] Use it (under way)",
      "### Result\n\n> All items are done.",
      "Spent: 12,345 tokens, $0.50.",
      "> A second label changed nothing.",
    ])
      expect(body).toContain(said);
    expect(body).not.toContain("To decide");
    expect(counted(1_234_567)).toBe("1,234,567");
    expect(commentBody(standingOf({ spent: { tokens: 1, usd: null } }), links)).toContain("cost not known");
  });
  it("[GHO-38] a card that waits is shown with its hash and how to answer it; one for the page says why and names no command", () => {
    const body = commentBody(standingOf(waitingStanding), links);
    expect(body).toContain(`Content hash \`${hash}\`.`);
    expect(body).toContain("Read the whole plan in [the check](https://github.com/octo/sample/runs/5)");
    expect(body).toContain(`\`/countersign approve ${hash}\` and nothing else`);
    expect(body).toContain("/countersign deny");
    const page = { ...(waitingStanding.card ?? cardless()), buttons: false, why_page: "It changes .github/ci.yml." };
    const there = commentBody(standingOf({ ...waitingStanding, card: page }), links);
    expect(there).toContain(
      "This is decided on [the task's page](https://countersign.example/tasks/tabcdefgh2345678), not here.",
    );
    expect(there).toContain("> It changes .github/ci.yml.");
    expect(there).toContain("A no is taken here too: ");
    expect(there).toContain("`/countersign deny` and a reason, or `/countersign cancel`");
    expect(there).not.toContain("/countersign approve");
    expect(body).not.toContain("Another plan may have been shown here before");
    const named = { ...(waitingStanding.card ?? cardless()), named: true };
    expect(commentBody(standingOf({ ...waitingStanding, card: named }), links)).toContain(
      "Another plan may have been shown here before, so the hash must stand in it.",
    );
  });
  it("[GHO-43] where the check does not show the plan, it names neither its hash nor a command, and leads to the page", () => {
    for (const lost of [
      { ...links, check: null },
      { ...links, shows: false },
    ]) {
      const body = commentBody(standingOf(waitingStanding), lost);
      expect(body).toContain("not here.\n\n> the check, which shows the whole plan, is not there");
      expect(body).not.toContain("/countersign ");
      expect(body).not.toContain(hash);
    }
  });
});

describe("a check run", () => {
  const look = (fields: Partial<GithubStanding>) => {
    const { status, conclusion, title } = checkLook(standingOf(fields), null);
    return [status, conclusion, title];
  };
  it("[GHO-39] it is in progress while the task works, asks while a card waits, and is settled whatever the end", () => {
    expect(look({})).toEqual(["in_progress", null, "Working"]);
    expect(look({ status: "waiting", phase: "qa" })).toEqual(["in_progress", null, "Verifying"]);
    expect(look(waitingStanding)).toEqual(["completed", "action_required", "The plan waits for a decision"]);
    expect(look(doneStanding)).toEqual(["completed", "success", "Verified and published"]);
    expect(look({ status: "done" })).toEqual(["completed", "success", "Done"]);
    expect(look({ status: "denied" })).toEqual(["completed", "failure", "Denied"]);
    expect(look({ status: "failed" })).toEqual(["completed", "failure", "Failed"]);
    expect(look({ status: "cancelled" })).toEqual(["completed", "cancelled", "Cancelled"]);
    const ours = "Not finished: the deployment failed it, not the code";
    expect(look({ status: "failed", infrastructure: true })).toEqual(["completed", "neutral", ours]);
    for (const status of taskStatuses)
      for (const kind of approvalKinds) {
        const card = { ...(waitingStanding.card ?? cardless()), kind };
        const { conclusion, actions } = checkLook(standingOf({ status, card }), null);
        const over = status !== "active" && status !== "waiting";
        expect(conclusion === "action_required", `${status} ${kind}`).toBe(!over);
        expect(actions.length).toBe(over ? 0 : 3);
      }
  });
  it("[GHO-40] its three buttons fit GitHub, name the card's hash, and are there only where it may be decided there", () => {
    const { actions, external_id, details_url, name } = checkLook(standingOf(waitingStanding), null);
    expect(actions.map(({ identifier }) => identifier)).toEqual([`approve:${hash}`, `deny:${hash}`, "cancel"]);
    for (const { label, identifier, description } of actions) {
      expect(label.length).toBeLessThanOrEqual(20);
      expect(identifier.length).toBeLessThanOrEqual(20);
      expect(description.length).toBeLessThanOrEqual(40);
    }
    expect({ external_id, details_url, name }).toEqual({
      ...{ external_id: "tabcdefgh2345678", name: "Countersign tabcdefg" },
      details_url: "https://countersign.example/tasks/tabcdefgh2345678",
    });
    const card = { ...(waitingStanding.card ?? cardless()), buttons: false, why_page: "Two people decide this." };
    const page = checkLook(standingOf({ ...waitingStanding, card }), null);
    const no = ["Deny", "Cancel"];
    expect([page.actions.map(({ label }) => label), page.text]).toEqual([no, "All of the plan."]);
    expect(page.summary).toContain("A no is taken here too: ");
    expect(page.summary).toContain("> Two people decide this.");
  });
  it("[GHO-44] a plan that waits stands in it whole and alone; where it does not, there are no buttons", () => {
    const checks = [{ run: "npm test", exit_code: 0, output: "x\n".repeat(9_000) }];
    const look = checkLook(standingOf({ ...waitingStanding, checks }), null);
    expect([look.text, look.actions.length]).toEqual(["All of the plan.", 3]);
    expect(look.summary).toContain("Below stands all that a yes covers.");
    const card = { ...(waitingStanding.card ?? cardless()), text: null };
    const without = checkLook(standingOf({ ...waitingStanding, card }), null);
    expect(without.actions.map(({ identifier }) => identifier)).toEqual([`deny:${hash}`, "cancel"]);
    expect(without.summary).toContain("This is decided on");
    expect(checkLook(standingOf({ ...waitingStanding, status: "done", checks }), null).text).toContain("npm test");
  });
  it("[GHO-41] what was verified shows each check, how it ended and what it printed", () => {
    const checks = [
      { run: "npm test", exit_code: 0, output: "12 passed\n" },
      { run: "npm run lint", exit_code: null, output: " " },
    ];
    expect(checkLook(standingOf({ ...doneStanding, checks }), null).text).toBe(
      "#### Check: npm test\n\nIt ended: exit code 0.\n\n```text\n12 passed\n```\n\n#### Check: npm run lint\n\nIt ended: did not end by itself.\n\nIt printed nothing.",
    );
    expect(checkLook(standingOf(), null).text).toBeNull();
  });
});

describe("a pull request", () => {
  it("[GHO-42] holds the evidence, the plan's hash, the audit head and who asked, and closes nothing", () => {
    const { title, body } = pullText(standingOf(doneStanding));
    expect(title).toBe("Make it faster");
    for (const said of [
      "For #12.",
      `Plan hash \`${"1".repeat(64)}\`.`,
      `Commit \`${shaOf("c")}\` on`,
      "#### Check: npm test\n\nIt ended: exit code 0.",
      "Audit head: `scopescopescope1/runtime@42` `0123abcd`",
    ])
      expect(body).toContain(said);
    expect(body.endsWith("\n\nCo-authored-by: alice <4242+alice@users.noreply.github.com>")).toBe(true);
    expect(body).not.toMatch(/\b(?:fix|close|resolve)[sd]?e?[sd]? #/i);
  });
  it("[GHO-42] who is not known by GitHub's own id, or has a name that is none, is no co-author", () => {
    for (const fields of [
      { asked_id: null },
      { asked_by: "alice" },
      { asked_by: "github:a <x@evil.example>" },
      { asked_by: "github:dependabot[bot]" },
    ])
      expect(pullText(standingOf({ ...doneStanding, ...fields })).body).not.toContain("Co-authored-by: ");
  });
});

function cardless(): never {
  throw new Error("the waiting standing has a card");
}
