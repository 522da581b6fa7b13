/** `npm start`: the whole service on this machine, and what to do next. [START-5] [START-13] */
import { styleText } from "node:util";
import { z } from "zod";
import { taskView } from "../domain/view.ts";
import { StartError, sentence } from "./files.ts";
import { parseFlags, type StartFlags, usage } from "./flags.ts";
import { githubLine, githubVariables, githubVars } from "./github.ts";
import { keyVariables, modelLine, modelVars } from "./models.ts";
import { signInLink } from "./seed.ts";
import { bringUp, type Service } from "./service.ts";

async function start(flags: StartFlags): Promise<number> {
  const say = (line: string): void => {
    (flags.json ? process.stderr : process.stdout).write(`${line}\n`);
  };
  const interrupted = onSignals();
  let service: Service | null = null;
  let code = 0;
  try {
    say("Starting Countersign ...");
    const models = modelVars(flags.model, process.env);
    const github = githubVars(flags.state, process.env);
    for (const line of [modelLine(models), githubLine(github)]) if (line !== null) say(line);
    // They stand in the Worker's file now: no process that is started needs them.
    for (const name of [...keyVariables, ...githubVariables, flags.model?.keyVariable])
      if (name) delete process.env[name];
    const { WEBHOOK_LOOPBACK: loopback } = process.env;
    const joined = { ...models, ...github, ...(loopback === "true" ? { WEBHOOK_LOOPBACK: loopback } : {}) };
    service = await bringUp(flags, say, interrupted.arm, joined);
    if (!interrupted.yet()) await announce(service, flags, say);
    const why = await Promise.race([service.lost, interrupted.signal]);
    if (why !== null) {
      process.stderr.write(`Stopping: ${why}\n`);
      code = 1;
    }
  } catch (error) {
    // What breaks while everything is being taken down is only that.
    if (!interrupted.yet()) {
      process.stderr.write(`${error instanceof StartError ? "" : "The service did not start: "}${sentence(error)}\n`);
      code = 1;
    }
  }
  await service?.stop();
  if (service !== null || interrupted.yet()) say("Stopped.");
  return code;
}

/** The first Ctrl-C stops in good order, also half-way up; the second does not wait. */
function onSignals() {
  let stop: (() => Promise<void>) | null = null;
  let seen = false;
  const signal = new Promise<null>((resolve) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.on(name, () => {
        if (seen) process.exit(130);
        seen = true;
        process.stderr.write("Stopping ...\n");
        void stop?.();
        resolve(null);
      });
  });
  return {
    signal,
    yet: () => seen,
    arm: (how: () => Promise<void>) => {
      stop = how;
    },
  };
}

async function announce(service: Service, flags: StartFlags, say: (line: string) => void): Promise<void> {
  if (flags.json) {
    process.stdout.write(
      `${JSON.stringify({ url: service.url, token_file: service.folder.token, scope: service.seeded.scope })}\n`,
    );
    return;
  }
  for (const lack of await lacks(service.url)) say(lack);
  const strong = (text: string) => styleText("bold", text);
  const link = await signInLink(service.client);
  say(`
${strong("Countersign is running")} at ${service.url}

  Sign in (works once, for 15 minutes):  ${strong(link)}
  Admin token of the scope "demo":       ${service.folder.token}
  Log:                                   ${service.folder.log}

${await nextSteps(service)}

Ctrl-C stops everything that was started.`);
}

const feature = z.object({ name: z.string(), ok: z.boolean(), detail: z.string(), optional: z.boolean().optional() });
const health = z.object({ features: z.array(feature) });

/** What this start can do without, in the service's own words. */
async function lacks(url: string): Promise<string[]> {
  const told = health.safeParse(await (await fetch(`${url}/healthz`)).json());
  if (!told.success) return [];
  return told.data.features
    .filter(({ ok }) => !ok)
    .map(({ name, detail, optional }) => `${optional === true ? "Not set up" : "Not available"}: ${name} (${detail})`);
}

async function nextSteps({ client, seeded }: Service): Promise<string> {
  const sample = seeded.task === null ? null : await client.get(`/api/tasks/${seeded.task}`, taskView);
  if (sample?.waiting_on !== "plan")
    return `What next: open the sign-in link, or ask for work from a second terminal:
  npx countersign task create --plan PLAN.md --repo /path/to/repository`;
  return `What next: a sample task waits for your countersignature. Open the sign-in link and look in Review, or
from a second terminal in this folder:
  npx countersign approvals list --status pending
  npx countersign approvals approve ${sample.pending_approvals[0] ?? "ID"}
  npx countersign task watch ${sample.id}`;
}

const parsed = parseFlags(process.argv.slice(2));
if (parsed.kind === "help") process.stdout.write(`${usage}\n`);
else if (parsed.kind === "usage") {
  process.stderr.write(`${parsed.problem}\n\n${usage}\n`);
  process.exitCode = 2;
} else process.exit(await start(parsed.flags));
