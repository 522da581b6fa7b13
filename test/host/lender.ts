/** Who hands out short-lived credentials in these tests: as GitHub does, each for one repository and one access. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { GithubTokens, TokenPermissions } from "../../src/adapters/github-tokens.ts";
import type { RepoRef } from "../../src/agents/github-port.ts";
import type { GitRequest, Verdict } from "../setup/git-server.ts";

interface Lent {
  readonly repository: string;
  readonly access: "read" | "write";
  alive: boolean;
}

export class Lender implements GithubTokens {
  readonly lent = new Map<string, Lent>();
  /** Repositories that everybody may read. */
  readonly open = new Set<string>();
  /** Credentials made from now on are dead at once. */
  broken = false;
  /** Narrower than what was asked for. */
  readOnly = false;

  async tokenFor({ full_name }: RepoRef, { contents = "read" }: TokenPermissions) {
    const token = `ghs_${randomBytes(24).toString("hex")}`;
    this.lent.set(token, { repository: full_name, access: this.readOnly ? "read" : contents, alive: !this.broken });
    return { token, expires_at_ms: Date.now() + 3_600_000 };
  }
  async revoke(token: string): Promise<void> {
    const lent = this.lent.get(token);
    if (lent !== undefined) lent.alive = false;
  }

  readonly allow = ({ repository, access, token }: GitRequest): Verdict => {
    if (this.open.has(repository) && access === "read") return "ok";
    const lent = this.lent.get(token ?? "");
    if (lent === undefined || !lent.alive) return "unauthorized";
    if (lent.repository !== repository) return "hidden";
    return access === "write" && lent.access === "read" ? "forbidden" : "ok";
  };

  /** How any of them may be written. */
  get spellings(): string[] {
    return [...this.lent.keys()].flatMap((token) => [
      token,
      Buffer.from(token).toString("base64"),
      Buffer.from(`x-access-token:${token}`).toString("base64"),
    ]);
  }
  /** Whether any of them stands in the text. */
  in(text: string): boolean {
    return this.spellings.some((spelling) => text.includes(spelling));
  }

  /** Files below a folder that hold one. */
  filesIn(folder: string): string[] {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`)
      .filter((path) => this.in(readFileSync(path, "latin1")));
  }
  /** Processes of this machine that hold one in this file of /proc. */
  processesWith(what: "environ" | "cmdline"): string[] {
    return readdirSync("/proc").filter((pid) => {
      if (!/^\d+$/.test(pid)) return false;
      try {
        return this.in(readFileSync(`/proc/${pid}/${what}`, "latin1"));
      } catch {
        return false; // It has ended, or is none of ours.
      }
    });
  }
}
