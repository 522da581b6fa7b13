/** `countersign github ...`: how the App stands, whose its installations are, and what begins a task in a repository. [GHL-58] */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseToken } from "../domain/credential.ts";
import {
  type GithubLinkView,
  type GithubOverview,
  githubLinkView,
  githubOverview,
  type InstallationView,
  installationView,
} from "../domain/github/views.ts";
import { visibleLine } from "../domain/visible.ts";
import { wholeOf } from "./answers.ts";
import { type Call, type Command, exit } from "./command.ts";
import { countOf } from "./counts.ts";
import { findTarget, UsageError } from "./target.ts";

export const status: Command = {
  usage: "countersign github status",
  options: {},
  takes: [],
  async run(call) {
    const found = await call.admin.get("/api/github", githubOverview);
    call.terminal.out(call.json ? JSON.stringify(found) : overview(found));
    return found.configured ? exit.done : exit.failed;
  },
};

export const installations: Command = {
  usage: "countersign github installations",
  options: {},
  takes: [],
  async run(call) {
    const found = await call.admin.get("/api/github/installations", wholeOf(installationView));
    if (call.json) call.terminal.out(JSON.stringify(found));
    else call.terminal.out(found.items.length === 0 ? "Nothing here." : found.items.map(installation).join("\n"));
    return exit.done;
  },
};

export const assign: Command = {
  usage: "countersign github assign INSTALLATION [SCOPE] [--repository OWNER/NAME]",
  options: { repository: { type: "string" } },
  takes: ["INSTALLATION", "[SCOPE]"],
  about:
    "SCOPE is a scope's id, or none; left out, it is the scope of your own token. A repository of none is its installation's.",
  async run(call) {
    const [id = "", given] = call.args;
    if (!/^[1-9]\d{0,14}$/.test(id))
      throw new UsageError("INSTALLATION is a number, as `countersign github installations` shows it");
    const scope_id = given === undefined ? ownScope(call) : given === "none" ? null : given;
    const repository = call.text("repository");
    const path = `/api/github/installations/${id}${repository === undefined ? "" : `/repositories/${pathOf(repository)}`}`;
    const done = await call.admin.put(path, { scope_id }, installationView, {});
    call.terminal.out(call.json ? JSON.stringify(done) : installation(done));
    return exit.done;
  },
};

export const repositories: Command = {
  usage: "countersign github repositories",
  options: {},
  takes: [],
  async run(call) {
    const found = await links(call);
    if (call.json) call.terminal.out(JSON.stringify(found));
    else call.terminal.out(found.items.length === 0 ? "Nothing here." : found.items.map(link).join("\n"));
    return exit.done;
  },
};

export const triggers: Command = {
  usage: "countersign github triggers OWNER/NAME [--set FILE]",
  options: { set: { type: "string" } },
  takes: ["OWNER/NAME"],
  about:
    "Shows as JSON what begins a task in the repository, or sets it from such a file; what that leaves out is as by default.",
  async run(call) {
    const name = call.args[0] ?? "";
    const path = `/api/github/repositories/${pathOf(name)}`;
    const file = call.text("set");
    const is = ({ repository }: GithubLinkView) => repository.full_name.toLowerCase() === name.toLowerCase();
    const found =
      file === undefined
        ? (await links(call)).items.find(is)
        : await call.client.put(path, { triggers: readJson(call, file) }, githubLinkView, {});
    if (found === undefined)
      throw new UsageError(`${visibleLine(name)} is not linked: countersign github repositories`);
    call.terminal.out(call.json ? JSON.stringify(found) : JSON.stringify(found.triggers, null, 2));
    return exit.done;
  },
};

function links(call: Call) {
  return call.client.get("/api/github/repositories", wholeOf(githubLinkView));
}
function pathOf(name: string): string {
  // Names of dots alone would lead elsewhere in the path.
  if (!/^(?!\.+\/)[A-Za-z0-9._-]{1,100}\/(?!\.+$)[A-Za-z0-9._-]{1,100}$/.test(name))
    throw new UsageError("a repository is named OWNER/NAME, as in its address");
  return name;
}
function ownScope({ env, terminal }: Call): string {
  const scope = parseToken(findTarget(env, terminal.cwd).token)?.scope;
  if (scope === undefined) throw new UsageError("COUNTERSIGN_TOKEN is no token of a scope: name the SCOPE");
  return scope;
}
function readJson(call: Call, file: string): unknown {
  try {
    return JSON.parse(readFileSync(resolve(call.terminal.cwd, file), "utf8")) as unknown; // JSON.parse says any.
  } catch {
    throw new UsageError(`${visibleLine(file)} cannot be read, or is no JSON`);
  }
}

function overview(found: GithubOverview): string {
  const { configured, slug, install_url, default_scope_id, problems, troubles, ignored } = found;
  const app = configured ? `The App ${slug} is set up.` : "There is no whole GitHub App: countersign github setup";
  return [
    app,
    ...(install_url === null ? [] : [`install   ${visibleLine(install_url)}`]),
    ...(configured ? [`new ones  ${newOnes(default_scope_id)}`] : []),
    ...problems.map((problem) => `lacking   ${visibleLine(problem)}`),
    ...troubles.map((trouble) => `trouble   ${visibleLine(trouble)}`),
    ...ignored.map(({ why, n }) => `ignored   ${visibleLine(why)}: ${countOf(n, "event")}`),
  ].join("\n");
}
function newOnes(scope: string | null): string {
  const wait = "wait until they are assigned";
  return scope === null ? wait : `${visibleLine(scope)} for the App's owner; all others ${wait}`;
}
function installation({ id, account, state, scope_id, repositories: all }: InstallationView): string {
  const whose = scope_id ?? "nobody's: countersign github assign";
  const rows = all.map(({ full_name, private: hidden, own_scope_id, scope_id: has }) => {
    const own = own_scope_id === null ? "" : `  assigned to ${own_scope_id}`;
    return `  ${visibleLine(full_name)}${hidden ? "  private" : ""}  ${has === null ? "not linked yet" : `linked to ${has}`}${own}`;
  });
  return [`${id}  ${visibleLine(account ?? "?")}  ${state}  ${whose}`, ...rows].join("\n");
}
function link({ repository, url, state, triggers: set }: GithubLinkView): string {
  const { label, assignment, comment, review_request, review_comment, failed_check } = set;
  const all = { [`label ${label.name}`]: label.on, assignment, comment, review_request, review_comment, failed_check };
  const on = Object.entries(all).flatMap(([name, is]) => (is ? [visibleLine(name)] : []));
  return `${visibleLine(repository.full_name)}  ${state}  ${visibleLine(url)}\n  begins at: ${on.join(", ") || "nothing"}`;
}
