/**
 * What a first start leaves behind, once: the scope with its admin token, and, unless it was not wanted, a
 * sample repository with a task whose plan waits for a person. [START-8]
 */
import { z } from "zod";
import { type Client, connect, Problem } from "../cli/client.ts";
import { repoView, taskView } from "../domain/view.ts";
import { readJson, readText, StartError, writePrivate } from "./files.ts";
import { makeSample, samplePlan, sampleTask } from "./sample.ts";
import type { StateFolder } from "./state.ts";

const remembered = z.strictObject({ scope: z.string(), task: z.string().nullable() });
const madeScope = z.looseObject({ scope_id: z.string(), token: z.string() });
const madeTicket = z.looseObject({ ticket: z.string() });

export interface Seeded {
  readonly scope: string;
  readonly token: string;
  readonly client: Client;
  /** The sample task, if there is one. */
  readonly task: string | null;
}

export async function seed(
  url: string,
  adminToken: string,
  folder: StateFolder,
  options: { readonly sample: boolean; readonly say: (line: string) => void },
): Promise<Seeded> {
  const known = readJson(folder.seed, remembered);
  const token = readText(folder.token)?.trim() ?? null;
  const { scope, token: live } =
    known !== null && token !== null ? { scope: known.scope, token } : await makeScope(url, adminToken, folder);
  const client = connect(url, live);
  await checkToken(client, folder);
  const before = known?.scope === scope ? known.task : null;
  if (before === null && options.sample) options.say("Asking for the sample task ...");
  const task = before ?? (options.sample ? await makeTask(client, folder) : null);
  if (task !== before) writePrivate(folder.seed, JSON.stringify({ scope, task }));
  return { scope, token: live, client, task };
}

async function makeScope(
  url: string,
  adminToken: string,
  folder: StateFolder,
): Promise<{ scope: string; token: string }> {
  const made = await connect(url, adminToken).post("/api/scopes", { name: "demo" }, madeScope);
  writePrivate(folder.token, `${made.token}\n`);
  writePrivate(folder.seed, JSON.stringify({ scope: made.scope_id, task: null }));
  return { scope: made.scope_id, token: made.token };
}

async function checkToken(client: Client, folder: StateFolder): Promise<void> {
  try {
    await client.get("/api/tasks?limit=1", z.unknown());
  } catch (error) {
    if (error instanceof Problem && error.status === 401)
      throw new StartError(
        `the token in ${folder.token} is not valid (any more). Put a valid admin token there, or start with another folder: npm start -- --state DIR`,
      );
    throw error;
  }
}

async function makeTask(client: Client, folder: StateFolder): Promise<string> {
  const url = makeSample(folder.sample);
  await client.post("/api/repos", { url, default_ref: "main" }, repoView);
  const body = { ...sampleTask, repo: { url, ref: "main" }, plan: samplePlan, labels: ["sample"] };
  // The key makes a start that was killed between asking and remembering find its task again.
  const task = await client.post("/api/tasks", body, taskView, "sample-task");
  return task.id;
}

/** A sign-in link that works once. */
export async function signInLink(client: Client): Promise<string> {
  const { ticket } = await client.post("/api/tickets", { path: "/" }, madeTicket);
  return `${client.url}/#ticket=${ticket}`;
}
