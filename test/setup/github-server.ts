/**
 * GitHub as far as it is used here, on a loopback address: it remembers, refuses and tells as GitHub does, holds every
 * request and every answer against GitHub's own OpenAPI description, and can be told to fail. No secret is in its journal.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Answers } from "./github/answers.ts";
import { gitAccess, isReply, tokenOf, whyNotApp, whyNotRepo } from "./github/auth.ts";
import { type Description, description } from "./github/description.ts";
import { Doings } from "./github/doings.ts";
import { type Fault, Faults, problem, type Reply, refusalOf } from "./github/faults.ts";
import { Hooks } from "./github/hooks.ts";
import { appOperations } from "./github/operations-app.ts";
import { repositoryOperations } from "./github/operations-repo.ts";
import { Owners } from "./github/owners.ts";
import type { Call, Json, Rule, Surroundings } from "./github/rules.ts";
import { type App, type Comment, type Repo, State } from "./github/state.ts";

export type { Fault } from "./github/faults.ts";

export interface Asked {
  readonly method: string;
  readonly path: string;
  /** `POST /repos/{owner}/{repo}/check-runs`; null when GitHub has no such operation here. */
  readonly operation: string | null;
  readonly body: unknown;
  /** The App, an installation with these permissions on these repositories, or nobody. */
  readonly as: string;
  readonly status: number;
}

export interface GithubServer {
  /** Address of the API, and of the pages: no slash at the end. */
  readonly url: string;
  readonly app: App;
  readonly state: State;
  readonly owners: Owners;
  /** What people do there. */
  readonly people: Doings;
  readonly hooks: Hooks;
  /** What the deployment under test is given to find it. */
  bindings(): Record<string, string>;
  fault(fault: Fault): void;
  clearFaults(): void;
  journal(): readonly Asked[];
  /** What was sent, or answered, against GitHub's description. */
  violations(): readonly string[];
  /** Our App's own comments below a thread. */
  ownComments(repo: string, number: number): readonly Comment[];
  ownChecks(repo: string): Repo["checks"];
  ownPulls(repo: string): readonly {
    readonly number: number;
    readonly title: string;
    readonly body: string;
    readonly head: string;
    readonly draft: boolean;
  }[];
  gitAccess(token: string | null, full_name: string, access: "read" | "write"): boolean;
  stop(): Promise<void>;
}

export async function startGithubServer(
  options: { readonly app?: Partial<App>; readonly port?: number } = {},
): Promise<GithubServer> {
  const state = new State(options.app);
  const faults = new Faults();
  const journal: Asked[] = [];
  const violations: string[] = [];
  let url = "";
  // The rules' names are what is used of the description, which the rules' answers are made of.
  let rules: Record<string, Rule> = {};
  const around = (answers: Answers, hooks: Hooks): Surroundings => ({
    state,
    answers,
    base: () => url,
    tell: (what) => void hooks.happened(what, state.bot),
    // As text, for the number it stands for has more digits than a number here keeps.
    deliveries: () => hooks.deliveries.filter(({ status }) => status !== 0).map((one) => listed(one)),
    redeliver: (id) => hooks.redeliver(id),
  });
  const names = Object.keys({
    ...appOperations(around({} as Answers, {} as Hooks)),
    ...repositoryOperations(around({} as Answers, {} as Hooks)),
  });
  const described: Description = await description(names);
  const answers = new Answers(described, state, () => url);
  const hooks = new Hooks(state, answers);
  rules = { ...appOperations(around(answers, hooks)), ...repositoryOperations(around(answers, hooks)) };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET" } = request;
    const address = new URL(request.url ?? "/", "http://localhost");
    const text = await textOf(request);
    const body: unknown = text === "" ? undefined : parsed(text);
    const found = described.find(method, address.pathname);
    const authorization = request.headers.authorization ?? "";
    const name = found?.operation.name ?? null;
    const fault = faults.take(name ?? method);
    const as = whose(state, authorization);
    const reply = fault === null || fault.kind === "slow" ? run() : (before(fault) ?? run());
    journal.push({
      method,
      path: address.pathname + address.search,
      operation: name,
      body,
      as,
      status: reply.status,
    });
    await deliver(response, reply, fault);

    function before(fault: Fault): Reply | null {
      if (fault.kind === "5xx_before") return { status: 502 };
      if (fault.kind === "cut_before") return { status: 0 };
      return refusalOf(fault, authorization);
    }
    function run(): Reply {
      if (found === null)
        return violated(`${method} ${address.pathname}`, ["GitHub has no such operation, or it is unknown here"]);
      const refusals = found.operation.refusals({ path: found.parameters, query: address.searchParams, body });
      if (refusals.length > 0) return violated(found.operation.name, refusals);
      const rule = rules[found.operation.name];
      if (rule === undefined) return problem(404, "Not Found");
      const given = carried(
        rule,
        { parameters: found.parameters, query: address.searchParams, body: (body ?? {}) as Json, token: null },
        authorization,
      );
      const lies = found.operation.lies(
        given.status,
        given.body === undefined ? undefined : parsed(written(given.body)),
      );
      return lies.length === 0 ? given : violated(`answer of ${found.operation.name}`, lies);
    }
  }
  function carried(rule: Rule, call: Call, authorization: string): Reply {
    const { owner, repo: short } = call.parameters;
    const repo =
      [...state.repos.values()].find((one) => one.full_name.toLowerCase() === `${owner}/${short}`.toLowerCase()) ??
      null;
    if (rule.as === "app") return whyNotApp(state, authorization) ?? rule.run(call, NO_REPO);
    if (rule.as === "nobody") return rule.run(call, NO_REPO);
    const token = tokenOf(state, authorization);
    if (isReply(token)) return token;
    const signed = { ...call, token };
    return whyNotRepo(state, rule, signed, repo) ?? rule.run(signed, repo ?? NO_REPO);
  }
  function violated(what: string, reasons: readonly string[]): Reply {
    violations.push(...reasons.map((reason) => `${what}: ${reason}`));
    return problem(400, `${what}: ${reasons.join("; ")}`);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      violations.push(`the contract server failed: ${String(error)}`);
      response.destroy();
    });
  });
  await new Promise<void>((done) => server.listen(options.port ?? 0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url,
    state,
    hooks,
    owners: new Owners(state, hooks),
    people: new Doings(state, hooks),
    get app() {
      return state.app;
    },
    bindings: () => ({
      GITHUB_APP_ID: String(state.app.id),
      GITHUB_APP_SLUG: state.app.slug,
      GITHUB_PRIVATE_KEY: state.app.pem,
      GITHUB_WEBHOOK_SECRET: state.app.webhook_secret,
      GITHUB_URL: url,
      GITHUB_API_URL: url,
    }),
    fault: (fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    journal: () => journal,
    violations: () => violations,
    ownComments: (repo, number) => state.thread(repo, number).comments.filter(({ by }) => by.id === state.bot.id),
    ownChecks: (repo) => state.repo(repo).checks.filter(({ app_id }) => app_id === state.app.id),
    ownPulls: (repo) =>
      [...state.repo(repo).threads.values()].flatMap(({ number, title, body, by, pull }) =>
        pull !== null && by.id === state.bot.id ? [{ number, title, body, head: pull.head, draft: pull.draft }] : [],
      ),
    gitAccess: (token, full_name, access) => gitAccess(state, token, full_name, access),
    stop: async () => {
      await hooks.settled();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** For operations of no repository, which look at none. */
const NO_REPO = {} as Repo;

function listed({ id, guid, delivered_at, redelivery, status, event, action }: Hooks["deliveries"][number]): Json {
  const told = status < 300 ? "OK" : status === 502 ? "failed to connect to host" : "Invalid HTTP Response";
  return {
    id: `bigint:${id}`,
    guid,
    delivered_at,
    redelivery,
    duration: 0.1,
    status: told,
    status_code: status,
    event,
    action,
    installation_id: null,
    repository_id: null,
  };
}
function written(body: unknown): string {
  return JSON.stringify(body).replace(/"bigint:(\d+)"/g, "$1");
}
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
function whose(state: State, authorization: string): string {
  const token = tokenOf(state, authorization);
  if (token === null || isReply(token)) return whyNotApp(state, authorization) === null ? "app" : "nobody";
  const permissions = Object.entries(token.permissions).map(([name, level]) => `${name}:${level}`);
  return `installation ${token.installation_id} ${permissions.sort().join(",")} on ${token.repositories?.join(",") ?? "all"}`;
}

async function deliver(response: ServerResponse, reply: Reply, fault: Fault | null): Promise<void> {
  const kind = fault?.kind;
  if (kind === "slow") await new Promise((done) => setTimeout(done, fault?.ms ?? 1_000));
  if (kind === "cut_before" || response.destroyed) return void response.destroy();
  if (kind === "5xx_before" || kind === "5xx_after")
    return void response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad Gateway</html>");
  if (kind === "html") return void response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>");
  if (kind === "huge") {
    response.writeHead(200, { "content-type": "application/json" });
    const part = `"${"x".repeat(1024 * 1024)}",`;
    for (let at = 0; at < 64 && !response.destroyed; at++) response.write(at === 0 ? `[${part}` : part);
    return void response.end("0]");
  }
  const body = reply.body === undefined ? "" : written(reply.body);
  const headers = { "content-type": "application/json; charset=utf-8", ...reply.headers };
  if (kind === "cut_after") {
    response.writeHead(reply.status, { ...headers, "content-length": String(Buffer.byteLength(body) + 10) });
    response.write(body.slice(0, Math.floor(body.length / 2)), () => response.destroy());
    return;
  }
  response.writeHead(reply.status, headers).end(reply.status === 204 ? undefined : body);
}
