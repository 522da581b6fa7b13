/** Asks a repository what a ref names, and says in the door's words why it could not. [HTTP-13] */
import type { SandboxFailure, Source } from "../agents/ports.ts";
import type { DoorPorts } from "./ports.ts";
import { Refused } from "./problem.ts";

export async function resolveRepo(ports: DoorPorts, source: Source, ref: string): Promise<void> {
  try {
    await ports.resolveRepo(source, ref);
  } catch (error) {
    if (isSandboxFailure(error)) throw refused(error, source.url, ref);
    throw error;
  }
}

function refused(failure: SandboxFailure, url: string, ref: string): Refused {
  switch (failure.code) {
    case "repo_unreachable":
      return new Refused(
        "repo_unreachable",
        `${url} did not answer: check the address and that this service may read it.`,
      );
    case "ref_not_found":
      return new Refused(
        "ref_not_found",
        `${url} has no branch, tag or commit ${ref}: check the name, or leave ref out for HEAD.`,
      );
    case "repo_not_allowed":
      return new Refused("repo_not_allowed", `${url} may not be used here: ${whyNotAllowed(failure.message)}`);
    default:
      return new Refused(
        "unavailable",
        "The sandbox host cannot be asked about the repository now: try again in a moment.",
      );
  }
}

/** The host speaks of its own setting; whoever started the service knows it as a flag. */
function whyNotAllowed(said: string): string {
  return said.includes("REPO_ROOTS")
    ? "it stands below none of the folders that local repositories are allowed in. Name one above it when the service is started: npm start -- --repo-root DIR."
    : said;
}

/** By name, not by class: a failure may have crossed a call between objects, which keeps only its fields. */
function isSandboxFailure(error: unknown): error is SandboxFailure {
  return error instanceof Error && error.name === "SandboxFailure" && "code" in error;
}
