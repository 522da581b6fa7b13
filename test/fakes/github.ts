/**
 * GitHub in memory, as far as the courier uses it: it keeps what was made and every version of it, refuses what GitHub
 * refuses, and fails where a test wants it to, before or after the thing is done.
 */
import {
  type CheckInput,
  type CheckRef,
  type CommentRef,
  type Github,
  GithubFailure,
  type GithubFailureCode,
  type PullFacts,
  type PullRef,
  type Written,
} from "../../src/agents/github-port.ts";
import type { GithubRepository, Permission } from "../../src/domain/github/shapes.ts";
import type { GithubStanding } from "../../src/domain/github/standing.ts";

export const repository: GithubRepository = {
  ...{ id: 71, installation_id: 9, full_name: "octo/sample", private: false, default_branch: "main" },
};
export const shaOf = (digit: string) => digit.repeat(40);

export interface FakeComment extends CommentRef {
  readonly issue: number;
  readonly ours: boolean;
  bodies: string[];
  deleted: boolean;
}
export interface FakeCheck extends CheckRef {
  readonly ours: boolean;
  looks: CheckInput[];
}
export interface FakePull extends PullRef {
  readonly head: string;
  readonly base: string;
  state: "open" | "closed";
  texts: { title: string; body: string }[];
}
export interface Fault {
  readonly code: GithubFailureCode;
  /** After what was asked is done: the answer alone is lost. */
  readonly after?: boolean;
  readonly retry_after_ms?: number | null;
}
export interface FakeCall {
  readonly method: keyof Github;
  readonly args: readonly unknown[];
}

export class FakeGithub {
  readonly comments: FakeComment[] = [];
  readonly checks: FakeCheck[] = [];
  readonly pulls: FakePull[] = [];
  readonly calls: FakeCall[] = [];
  readonly permissions = new Map<string, Permission>();
  readonly heads = new Map<string, string>([["main", shaOf("a")]]);
  readonly threads = new Map<number, PullFacts>();
  /** A check run that was completed is not let go on. */
  stubborn = false;
  /** Its own clock, which counts whole seconds; null: it does not say what time it is. */
  clock_ms: number | null = 1_000_000;
  fault: (call: FakeCall, index: number) => Fault | null = () => null;
  #last = 100;

  readonly port: Github = {
    permission: (...args) => this.#call("permission", args, () => this.#permission(args[1])),
    head: (...args) => this.#call("head", args, () => this.#head(args[1])),
    pull: (...args) => this.#call("pull", args, () => this.threads.get(args[1]) ?? null),
    findComment: (...args) =>
      this.#call("findComment", args, () =>
        orNull(this.#standing(args[1]).find(({ bodies }) => bodies.at(-1)?.includes(args[2]))),
      ),
    createComment: (...args) =>
      this.#call("createComment", args, () => this.#now(this.addComment(args[1], args[2], true))),
    updateComment: (...args) =>
      this.#call("updateComment", args, () => {
        const found = this.comments.find(({ id, deleted }) => id === args[1] && !deleted);
        found?.bodies.push(args[2]);
        return found === undefined ? null : this.#now(found);
      }),
    findCheck: (...args) =>
      this.#call("findCheck", args, () =>
        orNull(this.checks.find((each) => each.ours && each.sha === args[1] && each.looks[0]?.external_id === args[2])),
      ),
    createCheck: (...args) => this.#call("createCheck", args, () => this.#now(this.addCheck(args[1], args[2], true))),
    updateCheck: (...args) =>
      this.#call("updateCheck", args, () => {
        const found = this.#updateCheck(args[1], args[2]);
        return found === null ? null : this.#now(found);
      }),
    findPull: (...args) =>
      this.#call("findPull", args, () => {
        const found = this.pulls.findLast(({ head }) => head === args[1]);
        return found === undefined ? null : this.#facts(found);
      }),
    createPull: (...args) => this.#call("createPull", args, () => this.#createPull(args[1])),
    updatePull: (...args) =>
      this.#call("updatePull", args, () => {
        const found = this.pulls.find(({ number }) => number === args[1]);
        found?.texts.push(args[2]);
        return orNull(found);
      }),
  };

  addComment(issue: number, body: string, ours: boolean): FakeComment {
    const id = ++this.#last;
    const url = `https://github.com/octo/sample/issues/${issue}#issuecomment-${id}`;
    const made: FakeComment = { id, url, issue, ours, bodies: [body], deleted: false };
    this.comments.push(made);
    return made;
  }
  addCheck(sha: string, look: CheckInput, ours: boolean): FakeCheck {
    const id = ++this.#last;
    const made = { id, url: `https://github.com/octo/sample/runs/${id}`, sha, ours, looks: [look] };
    this.checks.push(made);
    return made;
  }
  /** What the last versions look like. */
  standing() {
    return {
      comments: this.comments.filter(({ ours, deleted }) => ours && !deleted).map(({ bodies }) => bodies.at(-1) ?? ""),
      checks: this.checks.filter(({ ours }) => ours).flatMap(({ looks }) => looks.slice(-1)),
      pulls: this.pulls.flatMap(({ texts }) => texts.slice(-1)),
    };
  }
  methods(): string[] {
    return this.calls.map(({ method }) => method);
  }
  writes(): string[] {
    return this.methods().filter((method) => /^(?:create|update)/.test(method));
  }

  async #call<T>(method: keyof Github, args: readonly unknown[], act: () => T): Promise<T> {
    const call = { method, args: structuredClone(args) };
    const fault = this.fault(call, this.calls.push(call) - 1);
    const fail = ({ code, retry_after_ms }: Fault) =>
      new GithubFailure(code, `GitHub says ${code}.`, retry_after_ms ?? null);
    if (fault !== null && fault.after !== true) throw fail(fault);
    const answer = act();
    if (fault !== null) throw fail(fault);
    return answer;
  }
  #now<T extends object>(written: T): T & Written {
    const whole_ms = this.clock_ms === null ? null : Math.floor(this.clock_ms / 1_000) * 1_000;
    return { ...written, at: whole_ms === null ? null : new Date(whole_ms).toISOString() };
  }
  #permission(login: string): Permission {
    return this.permissions.get(login) ?? "none";
  }
  #head(branch: string | null) {
    const name = branch ?? "main";
    const sha = this.heads.get(name);
    return sha === undefined ? null : { branch: name, sha };
  }
  #standing(issue: number): FakeComment[] {
    return this.comments.filter((each) => each.ours && !each.deleted && each.issue === issue);
  }
  #updateCheck(id: number, look: CheckInput): FakeCheck | null {
    const found = this.checks.find((each) => each.id === id);
    if (found === undefined) return null;
    if (this.stubborn && found.looks.at(-1)?.status === "completed" && look.status !== "completed")
      throw new GithubFailure("invalid", "a completed check run cannot go on");
    found.looks.push(look);
    return found;
  }
  #createPull({ head, base, title, body }: { head: string; base: string; title: string; body: string }): FakePull {
    if (this.pulls.some((each) => each.head === head && each.state === "open"))
      throw new GithubFailure("invalid", "a pull request already exists");
    const number = ++this.#last;
    const url = `https://github.com/octo/sample/pull/${number}`;
    const made: FakePull = { number, url, head, base, state: "open", texts: [{ title, body }] };
    this.pulls.push(made);
    return made;
  }
  #facts({ number, url, state, head, base }: FakePull): PullFacts {
    const where = { head_branch: head, head_sha: shaOf("f"), same_repository: true, base_branch: base };
    return { number, url, state, draft: true, ...where };
  }
}
function orNull<T>(found: T | undefined): T | null {
  return found ?? null;
}

/** A task in the middle of its work; with `published` there is a pull request to make. */
export function standingOf(fields: Partial<GithubStanding> = {}): GithubStanding {
  return {
    ...{ task_id: "tabcdefgh2345678", version: 7, repository, thread: { kind: "issue", number: 12 } },
    ...{ title: "Make it faster", asked_by: "github:alice", asked_id: 4242, status: "active", phase: "coding" },
    ...{ reason: null, infrastructure: false, page_url: "https://countersign.example/tasks/tabcdefgh2345678" },
    ...{
      base_commit: shaOf("b"),
      base_branch: null,
      branch: "countersign/tabcdefgh2345678",
      published: null,
      follows: null,
    },
    plan: { title: "Cache it", goal: "Reads are cached.", hash: "1".repeat(64), version: 1 },
    items: [
      { title: "Add a cache", state: "done" },
      { title: "Use it", state: "running" },
    ],
    ...{ card: null, checks: [], spent: { tokens: 12_345, usd: 0.5 }, audit_head: null, note: null, shown: null },
    ...fields,
  };
}
export const waitingStanding: Partial<GithubStanding> = {
  status: "waiting",
  phase: "planning",
  card: {
    ...{ approval_id: "ap-1", kind: "plan", title: "Approve the plan", why: "It changes code." },
    ...{
      content_hash: "abcdef0123456789".repeat(4),
      buttons: true,
      why_page: null,
      text: "All of the plan.",
      named: false,
    },
  },
};
export const doneStanding: Partial<GithubStanding> = {
  ...{ status: "done", phase: "complete", published: shaOf("c"), reason: "All items are done." },
  checks: [{ run: "npm test", exit_code: 0, output: "12 passed\n" }],
  audit_head: "scopescopescope1/runtime@42 0123abcd",
};
