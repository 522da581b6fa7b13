/** A plan's card, a standing approval that it fits, and generators of both, for the rules of standing approvals. */
import fc from "fast-check";
import type { Card } from "../../src/domain/approval-view.ts";
import { defaultPolicy } from "../../src/domain/policy.ts";
import { type Asked, fits } from "../../src/domain/standing.ts";
import { type StandingBounds, standingBounds } from "../../src/domain/standing-shape.ts";

export const day = 86_400_000;
export const repo = "https://git.example/a/b";

export const bounds: StandingBounds = standingBounds.parse({
  who: ["alice#abc123"],
  labels: ["chore"],
  repos: [repo],
  tools: ["shell_execute", "file_edit"],
  paths: ["src/**", "docs/*.md"],
  commands: ["npm test", "echo **"],
  hosts: ["git.example.com"],
  environment: { setup: ["npm ci"], hosts: ["npm"], cache: ["npm"] },
  protect: ["test/**"],
  verify: ["npm test"],
  budget: { plan: { usd: 5 }, day: { usd: 8, plans: 3 } },
});

export function itemOf(more: Partial<Card["items"][number]> = {}): Card["items"][number] {
  return {
    id: "fix",
    item_hash: "0".repeat(64),
    title: "Fix",
    runner: "steps",
    depends_on: [],
    grants: {
      tools: ["shell_execute"],
      paths: ["src/a/**", "docs/x.md"],
      commands: ["npm test"],
      hosts: [],
      secrets: [],
    },
    protect: ["test/**", "**/package.json"],
    verify: [["npm", "test"]],
    steps: ["echo hello > src/a/b.txt\nnpm test"],
    max_attempts: 2,
    ...more,
  };
}
export function cardOf(more: Partial<Card> = {}): Card {
  return {
    kind: "plan",
    title: "Countersign the plan: Fix",
    why: "why",
    repo,
    base_commit: "b".repeat(40),
    publishes: "countersign/t1",
    plan_hash: "1".repeat(64),
    environment: { setup: [["npm", "ci"]], hosts: ["npm"], cache: ["npm"] },
    items: [itemOf()],
    tool: null,
    facts: [],
    budget: { tokens: 0, usd: 2, minutes: null },
    taint: "member",
    policy_hash: "2".repeat(64),
    requested_by: "alice#abc123",
    ...more,
  };
}

/** What fits; a test changes one thing. */
export function asked(more: Partial<Asked> = {}, within: Partial<StandingBounds> = {}): Asked {
  return {
    standing: {
      name: "chores",
      status: "active",
      bounds: { ...bounds, ...within },
      until_ms: 10 * day,
      uses_left: 1,
      made_by: "bob#def456",
      maker_stands: true,
    },
    card: cardOf(),
    task: {
      created_by: "alice#abc123",
      repo,
      labels: ["chore", "small"],
      labels_by_role: "approver",
      taint: "member",
      decided_by_person: false,
      budget: null,
      spent: { tokens: 0, usd: 0 },
      own_left: { tokens: 500_000, usd: 5 },
    },
    usage: { plans: 0, tokens: 0, usd: 0, minutes: 0 },
    rules: defaultPolicy.approvals,
    now: day,
    ...more,
  };
}
export function why(given: Asked): string {
  const fit = fits(given);
  return fit.fits ? "" : fit.why;
}

const name = fc.constantFrom("a", "b", "ab", "*", "a*", "*b", "?", "?b", "**");
export const anyGlob = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
const word = fc.constantFrom("a", "b", "ab", "*", "a*", "*b", "*a*");
export const anyCommand = fc
  .tuple(fc.array(word, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([words, open]) => [...words, ...(open ? ["**"] : [])].join(" "));
const list = <T>(of: fc.Arbitrary<T>, most = 3) => fc.uniqueArray(of, { maxLength: most });
const from = (...names: string[]) => list(fc.constantFrom(...names), names.length);
const taint = fc.constantFrom("owner", "owner", "member", "outsider", "web" as const);
const amount = fc.option(fc.constantFrom(1, 2, 5), { nil: null, freq: 1 });
/** Mostly the first, so that what is generated fits often enough to be worth looking at. */
function mostly<T>(one: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(one) }, { weight: 1, arbitrary: other });
}

export const anyBounds: fc.Arbitrary<StandingBounds> = fc.record({
  who: fc.constant(["alice#abc123"]),
  labels: from("chore", "small"),
  repos: fc.constant([repo]),
  runners: mostly(["steps", "loop"], from("steps", "loop")),
  tools: mostly(["shell_execute", "file_edit"], from("shell_execute", "file_edit")),
  paths: list(fc.oneof(anyGlob, anyGlob, fc.constantFrom("**", "a/**", "package.json")), 4),
  commands: list(fc.oneof(anyCommand, anyCommand, fc.constantFrom("a **", "**", "echo **")), 4),
  hosts: from("x.example.com", "npm"),
  secrets: from("KEY"),
  environment: fc.record({ setup: list(anyCommand), hosts: from("npm"), cache: fc.constant([]) }),
  protect: mostly<string[]>([], list(anyGlob, 1)),
  verify: mostly(["a"], fc.constantFrom(["a b"], ["a", "a b"])),
  taint: mostly<StandingBounds["taint"]>("web", taint),
  budget: fc.record({
    plan: fc.record({ tokens: amount, usd: amount, minutes: mostly<number | null>(null, amount) }),
    day: fc.record({ tokens: amount, usd: amount, minutes: mostly<number | null>(null, amount), plans: amount }),
  }),
});
const checks: string[][][] = [[["a"], ["a", "b"]], [["a"]], []];
export const anyCard: fc.Arbitrary<Card> = fc
  .record({
    items: fc.array(
      fc.record({
        runner: fc.constantFrom("steps", "steps", "loop"),
        grants: fc.record({
          tools: from("shell_execute"),
          paths: list(fc.oneof(anyGlob, fc.constantFrom("package.json", "a/package.json")), 2),
          commands: list(anyCommand, 2),
          hosts: mostly<string[]>([], from("x.example.com", "y.example.com")),
          secrets: mostly<string[]>([], fc.constant(["KEY"])),
        }),
        protect: list(fc.oneof(anyGlob, fc.constantFrom("**", "!package.json")), 3),
        verify: fc.constantFrom(...checks),
        steps: mostly<string[]>([], list(fc.constantFrom("a b", "echo x > a/b", "ab", "$x"), 1)),
      }),
      { minLength: 1, maxLength: 2 },
    ),
    setup: mostly<string[][]>([], fc.constantFrom([["a"]], [["a", "b"]])),
    taint,
    budget: fc.record({ tokens: fc.constantFrom(0, 1, 4), usd: fc.constantFrom(0, 1, 4), minutes: amount }),
  })
  .map(({ items, setup, ...rest }) =>
    cardOf({
      ...rest,
      environment: { setup, hosts: [], cache: [] },
      items: items.map((item, at) => itemOf({ ...item, id: `i${at}` })),
    }),
  );
