/** The runs a soak is made of: what each is started with, and how its own figures are read into one row. [SOAK-1] [SOAK-2] */
import { z } from "zod";

export interface SoakFlags {
  readonly steps: number;
  readonly evictions: number;
  readonly kills: number;
  readonly scripts: number;
  readonly walks: number;
  readonly seed: number;
}
export interface Row {
  readonly run: string;
  readonly asked: number;
  readonly done: number;
  readonly lost: number;
  readonly doubled: number;
  readonly violations: number;
}
export interface Run {
  readonly name: string;
  /** What `asked` and `done` count. */
  readonly counting: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The row of what it printed; null when it printed no figures. */
  read(said: string): Row | null;
}

/** Steps of the simulation of whole objects are worth more and cost more: one in so many is its. */
const scopeShare = 20;
const scopeRunSteps = 10_000;
const jobs = 2;

export function runsOf({ steps, evictions, kills, scripts, walks, seed }: SoakFlags): Run[] {
  const scopeRuns = Math.max(1, Math.round(steps / scopeShare / scopeRunSteps));
  const simulate = "test/simulation/run.ts";
  const seeded = ["--seed", String(seed)];
  const env = { COUNTERSIGN_SEED: String(seed), COUNTERSIGN_EVICTIONS: String(evictions) };
  const all: Run[] = [
    {
      name: "messaging",
      counting: "messages, effects",
      args: [simulate, "messaging", ...seeded, "--steps", String(steps), "--jobs", String(jobs), "--json"],
      env: {},
      read: (said) => row("messaging", reportsIn(said, messaging).map(ofMessaging)),
    },
    {
      name: "scope",
      counting: "messages, taken",
      args: [simulate, "scope", ...seeded, "--seeds", String(scopeRuns), "--steps", String(scopeRunSteps), "--json"],
      env: {},
      read: (said) => row("scope", reportsIn(said, scope).map(ofScope)),
    },
    {
      name: "evictions",
      counting: "commands and calls, answered",
      args: ["src/dev/test.ts", "--project", "workerd", "test/objects/commands.test.ts"],
      env,
      read: (said) => row("evictions", reportsIn(said, lives).map(ofLives)),
    },
    {
      name: "kills",
      counting: "requests answered, tasks done",
      args: ["test/kills/run.ts", ...seeded, "--kills", String(kills), "--json"],
      env: {},
      read: (said) => row("kills", reportsIn(said, killed).map(ofKills)),
    },
    {
      name: "shell",
      counting: "scripts, those whose reading claims to know all that runs",
      args: [simulate, "shell", ...seeded, "--scripts", String(scripts), "--jobs", String(jobs), "--json"],
      env: {},
      read: (said) => row("shell", reportsIn(said, shell).map(ofShell)),
    },
    {
      name: "approvals",
      counting: "walks, calls that ran",
      args: [simulate, "approvals", ...seeded, "--walks", String(walks), "--jobs", String(jobs), "--json"],
      env: {},
      read: (said) => row("approvals", reportsIn(said, walked).map(ofWalks)),
    },
  ];
  const simulated = { messaging: steps, scope: steps, shell: scripts, approvals: walks };
  const wanted: Record<string, number> = { ...simulated, evictions, kills };
  return all.filter(({ name }) => wanted[name] !== 0);
}

type Figures = Omit<Row, "run">;
const messaging = z.object({
  figures: z.object({ messages: z.number(), effects: z.number() }),
  failures: z.array(z.object({ violation: z.string() })),
});
const scope = z.object({
  counts: z.record(z.string(), z.number()),
  violation: z.string().nullable(),
  virtual_s: z.number(),
});
const lives = z.union([
  z.object({ evictions: z.number(), aborts: z.number(), commands: z.number() }),
  z.object({ aborts: z.number(), calls: z.number(), answers: z.number() }),
]);
const killed = z.object({
  ...{ kills: z.number(), answered: z.number(), done: z.number() },
  ...{ lost: z.number(), doubled: z.number(), violations: z.number() },
});
const shell = z.object({
  shell: z.object({ scripts: z.number(), claimed: z.number(), missing: z.number() }),
});

const walked = z.object({
  approvals: z.object({
    ...{ walks: z.number(), counts: z.record(z.string(), z.number()) },
    failures: z.array(z.object({ violation: z.string() })),
  }),
});

/** A simulation ends at its first violation, whose sentence says which kind it is. */
function judged(violations: readonly string[]): Pick<Row, "lost" | "doubled" | "violations"> {
  const saying = (words: RegExp) => violations.filter((violation) => words.test(violation)).length;
  return {
    lost: saying(/\blost\b|\bnever\b|is gone/),
    doubled: saying(/\btwice\b|\btimes\b|\bdoubled?\b|more than once/),
    violations: violations.length,
  };
}
function ofMessaging({ figures, failures }: z.infer<typeof messaging>): Figures {
  const violations = failures.map(({ violation }) => violation);
  return { asked: figures.messages, done: figures.effects, ...judged(violations) };
}
function ofScope({ counts, violation }: z.infer<typeof scope>): Figures {
  return { asked: counts.accepted ?? 0, done: counts.acked ?? 0, ...judged(violation === null ? [] : [violation]) };
}
/** What is wrong fails the test, which the run's exit code tells. */
function ofLives(told: z.infer<typeof lives>): Figures {
  const none = { lost: 0, doubled: 0, violations: 0 };
  return "commands" in told
    ? { asked: told.commands, done: told.commands, ...none }
    : { asked: told.calls, done: told.answers, ...none };
}
function ofKills({ answered, done, lost, doubled, violations }: z.infer<typeof killed>): Figures {
  return { asked: answered, done, lost, doubled, violations };
}
function ofWalks({ approvals }: z.infer<typeof walked>): Figures {
  const { walks, counts, failures } = approvals;
  const done = (counts["ran by a person's yes"] ?? 0) + (counts["ran by plan or policy"] ?? 0);
  return { asked: walks, done, ...judged(failures.map(({ violation }) => violation)) };
}
function ofShell({ shell: { scripts, claimed, missing } }: z.infer<typeof shell>): Figures {
  return { asked: scripts, done: claimed, lost: 0, doubled: 0, violations: missing };
}

function row(run: string, parts: readonly Figures[]): Row | null {
  if (parts.length === 0) return null;
  const sum = (of: (part: Figures) => number) => parts.reduce((total, part) => total + of(part), 0);
  return {
    ...{ run, asked: sum((part) => part.asked), done: sum((part) => part.done), lost: sum((part) => part.lost) },
    ...{ doubled: sum((part) => part.doubled), violations: sum((part) => part.violations) },
  };
}
/** The lines, or ends of lines, that are JSON of that shape. */
function reportsIn<T>(said: string, shape: z.ZodType<T>): T[] {
  return said.split("\n").flatMap((line) => {
    const from = line.indexOf("{");
    if (from < 0) return [];
    try {
      const read = shape.safeParse(JSON.parse(line.slice(from)));
      return read.success ? [read.data] : [];
    } catch {
      return [];
    }
  });
}
