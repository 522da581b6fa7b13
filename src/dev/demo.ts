/**
 * `npm run demo`: the whole road without a browser, in a state folder of its own. It trusts nobody's word:
 * it ends well only when the branch is in the repository and its tests pass there. [DEMO-1] [DEMO-2]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, styleText } from "node:util";
import { approvalText, typed } from "../cli/show.ts";
import { outputOf, wordsOf } from "../cli/words.ts";
import { approvalView } from "../domain/approval-view.ts";
import type { EventView } from "../domain/record-view.ts";
import { type TaskView, taskView } from "../domain/view.ts";
import { visible, visibleLine } from "../domain/visible.ts";
import { branchProblem, commitOf } from "./demo-check.ts";
import { sentence } from "./files.ts";
import { bringUp, type Service } from "./service.ts";

const DEFAULT_LIMIT_S = 60;
const usage = `npm run demo -- [--keep] [--limit SECONDS] [--help]

  --keep           leave the state folder (with the sample repository and its new branch) where it is
  --limit SECONDS  give up after this long (default ${DEFAULT_LIMIT_S})
  --help           this text`;

/** Why the demo did not end as it should, in a sentence. */
class DemoFailure extends Error {}

const beganMs = Date.now();

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
function heading(text: string): void {
  say(`\n${styleText("bold", text)}`);
}
function step(text: string): void {
  say(`${((Date.now() - beganMs) / 1000).toFixed(1).padStart(5)}s  ${text}`);
}
function quoted(text: string): string {
  return visible(text).trimEnd().replaceAll(/^/gm, "        | ");
}

async function main(): Promise<number> {
  const options = {
    keep: { type: "boolean" },
    limit: { type: "string" },
    help: { type: "boolean", short: "h" },
  } as const;
  try {
    const { values } = parseArgs({ options });
    const limitS = Number(values.limit ?? DEFAULT_LIMIT_S);
    if (!(limitS > 0 && limitS <= 3_600)) throw new Error("--limit wants a number of seconds, at most 3600");
    if (values.help !== true) return await withinLimit(values.keep === true, limitS);
    say(usage);
    return 0;
  } catch (error) {
    process.stderr.write(`${sentence(error)}\n\n${usage}\n`);
    return 2;
  }
}

async function withinLimit(keep: boolean, limitS: number): Promise<number> {
  const state = mkdtempSync(join(tmpdir(), "countersign-demo-"));
  const stop = new AbortController();
  let takeDown: (() => Promise<void>) | null = null;
  const arm = (how: () => Promise<void>): void => {
    takeDown = how;
  };
  const giveUp = new Promise<never>((_, reject) => {
    const end = (why: string) => {
      stop.abort();
      reject(new DemoFailure(why));
    };
    setTimeout(() => end(`it took longer than ${limitS} seconds`), limitS * 1_000).unref();
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => end("it was interrupted"));
  });
  try {
    const branch = await Promise.race([road(state, stop.signal, arm), giveUp]);
    await ended(takeDown);
    heading("Done");
    if (keep) say(`Kept: ${state}\n  git -C ${join(state, "sample")} show ${branch}\n  npm start -- --state ${state}`);
    say(`The verified change stands on the branch ${styleText("bold", branch)}`);
    return 0;
  } catch (error) {
    process.stderr.write(`\nThe demo failed: ${sentence(error)}\n`);
    if (keep) process.stderr.write(`Kept: ${state} (its service.log tells more)\n`);
    else process.stderr.write("Run it again with --keep to keep its state folder and service.log.\n");
    await ended(takeDown);
    return 1;
  } finally {
    if (!keep) rmSync(state, { recursive: true, force: true });
  }
}

async function ended(takeDown: (() => Promise<void>) | null): Promise<void> {
  await takeDown?.();
}

/** Answers the branch. Throws a sentence wherever the road does not lead on. */
async function road(state: string, signal: AbortSignal, arm: (stop: () => Promise<void>) => void): Promise<string> {
  heading("Starting the service");
  const service = await bringUp({ port: 0, state, seed: true, json: false, repoRoots: [], model: null }, step, arm);
  step(`It runs at ${service.url}, on this machine only`);
  const before = commitOf(service.folder.sample, "main");
  const task = await Promise.race([
    follow(service, signal),
    service.lost.then((why) => Promise.reject(new DemoFailure(why))),
  ]);
  if (task.status !== "done" || task.branch === null)
    throw new DemoFailure(`the task ended ${task.status}: ${task.reason ?? task.error_code ?? "no reason given"}`);
  showVerification(task);
  await showDiff(service, task);
  heading("Checking the result in the sample repository itself");
  const problem = branchProblem({ sample: service.folder.sample, branch: task.branch, commit: task.commit, before });
  if (problem !== null) throw new DemoFailure(problem);
  step(`${task.branch} is there, its tests pass, and main is untouched`);
  return task.branch;
}

/** Shows each event as it happens, countersigns once, and answers the task when it has ended. */
async function follow(service: Service, signal: AbortSignal): Promise<TaskView> {
  const { client, seeded } = service;
  const read = () => client.get(`/api/tasks/${seeded.task}`, taskView);
  let signed: string | null = null;
  heading("A task asks to be done");
  for await (const event of client.events(0, signal)) {
    if (event.task_id !== seeded.task) continue;
    print(event);
    if (/^task_(complete|failed|denied|cancelled)$/.test(event.type)) return read();
    if (event.type !== "approval_requested") continue;
    const task = await read();
    const [waiting] = task.pending_approvals.filter((id) => id !== signed);
    if (waiting === undefined) continue;
    if (signed !== null) throw new DemoFailure(await secondQuestion(service, waiting));
    await countersign(service, task, waiting);
    signed = waiting;
  }
  throw new DemoFailure("the event feed ended before the task did");
}

async function secondQuestion({ client }: Service, id: string): Promise<string> {
  const { card } = await client.get(`/api/approvals/${id}`, approvalView);
  return `another decision is needed, which this plan should not need: ${visible([card.title, card.why, ...card.facts].join("\n  "))}`;
}

async function countersign(service: Service, task: TaskView, id: string): Promise<void> {
  const path = `/api/approvals/${id}`;
  const approval = await service.client.get(path, approvalView);
  heading("The plan, which nothing runs without a person's signature");
  say(quoted(task.plan?.markdown ?? ""));
  heading("What signing it grants");
  // The steps stand in the plan right above.
  const card = { ...approval.card, items: approval.card.items.map((item) => ({ ...item, steps: [] })) };
  say(quoted(approvalText({ ...approval, card })));
  heading("Countersigning exactly these bytes");
  await service.client.post(
    `${path}/approve`,
    { content_hash: approval.content_hash, comment: "Signed by npm run demo" },
    approvalView,
  );
  step(`Approved ${approval.content_hash.slice(0, 16)}...`);
}

function print(event: EventView): void {
  const output = outputOf(event);
  const words = wordsOf(event);
  if (output !== null) say(styleText("dim", quoted(output)));
  else if (words !== null) step(words);
}

function showVerification(task: TaskView): void {
  heading("Verified in a second, clean sandbox");
  for (const attempt of task.attempts)
    for (const made of attempt.verifications) {
      step(`${made.verdict}: ${visibleLine(made.detail)}`);
      for (const check of made.checks) {
        say(
          `        ${visibleLine(typed(check.argv))}  exit ${check.exit_code ?? "none"}, ${Math.round(check.duration_ms)} ms`,
        );
        say(styleText("dim", quoted(check.output.split("\n").slice(-12).join("\n"))));
      }
    }
}

async function showDiff(service: Service, task: TaskView): Promise<void> {
  heading("The change");
  const patch = await service.client.text(`/api/tasks/${task.id}/patch`);
  if (!patch.includes("src/pager.js")) throw new DemoFailure("the patch does not touch src/pager.js");
  const coloured = visible(patch)
    .trimEnd()
    .split("\n")
    .map((line) =>
      line.startsWith("+") ? styleText("green", line) : line.startsWith("-") ? styleText("red", line) : line,
    );
  say(coloured.join("\n"));
}

process.exit(await main());
