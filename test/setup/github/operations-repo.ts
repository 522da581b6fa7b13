/** The operations on one repository: what they need, do and answer. */
import { problem } from "./faults.ts";
import { invalid, type Json, need, notFound, paged, type Rule, type Surroundings } from "./rules.ts";
import { type Check, hasCommit, headOf, now, type Repo, type Thread } from "./state.ts";

export function repositoryOperations({ state, answers, base, tell }: Surroundings): Record<string, Rule> {
  const threadOf = (repo: Repo, number: string | undefined): Thread | undefined => repo.threads.get(Number(number));
  const onThread = (level: "read" | "write"): Rule["as"] => ({
    permission: ({ parameters }, repo) => {
      const thread = threadOf(repo, parameters.issue_number) ?? threadWith(repo, parameters.comment_id);
      return [thread?.pull ? "pull_requests" : "issues", level];
    },
  });
  const pullOf = (repo: Repo, number: string | undefined): Thread | null => {
    const thread = threadOf(repo, number);
    return thread === undefined || thread.pull === null ? null : thread;
  };
  return {
    "GET /repos/{owner}/{repo}": {
      as: need("metadata", "read"),
      run: (_call, repo) => ({ status: 200, body: answers.fullRepository(repo) }),
    },
    "GET /repos/{owner}/{repo}/collaborators/{username}/permission": {
      as: need("metadata", "read"),
      run: ({ parameters }, repo) => {
        const person = state.people.get((parameters.username ?? "").toLowerCase());
        return person === undefined ? notFound : { status: 200, body: answers.permission(repo, person) };
      },
    },
    "GET /repos/{owner}/{repo}/git/ref/{ref}": {
      as: need("contents", "read"),
      run: ({ parameters }, repo) => {
        const branch = /^heads\/(.+)$/.exec(parameters.ref ?? "")?.[1] ?? "";
        const sha = headOf(repo, branch);
        if (sha !== null) return { status: 200, body: answers.ref(branch, sha) };
        return repo.git === null && repo.branches.size === 0 ? problem(409, "Git Repository is empty.") : notFound;
      },
    },
    "GET /repos/{owner}/{repo}/issues/{issue_number}/comments": {
      as: onThread("read"),
      run: (call, repo) => {
        const thread = threadOf(repo, call.parameters.issue_number);
        if (thread === undefined) return notFound;
        const all = thread.comments.map((one) => answers.comment(repo, thread, one));
        const path = `/repos/${repo.full_name}/issues/${thread.number}/comments`;
        return paged(base(), all, call, path, (page) => page);
      },
    },
    "POST /repos/{owner}/{repo}/issues/{issue_number}/comments": {
      as: onThread("write"),
      run: ({ parameters, body }, repo) => {
        const thread = threadOf(repo, parameters.issue_number);
        if (thread === undefined) return notFound;
        if (String(body.body).length > 65_536) return invalid("Body is too long (maximum is 65536 characters)");
        const comment = { id: state.id(), by: state.bot, body: String(body.body), at: now() };
        thread.comments.push(comment);
        tell({ event: "issue_comment", action: "created", repo, thread, comment });
        return { status: 201, body: answers.comment(repo, thread, comment) };
      },
    },
    "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}": {
      as: onThread("write"),
      run: ({ parameters, body }, repo) => {
        const thread = threadWith(repo, parameters.comment_id);
        const comment = thread?.comments.find((one) => one.id === Number(parameters.comment_id));
        if (thread === undefined || comment === undefined) return notFound;
        if (String(body.body).length > 65_536) return invalid("Body is too long (maximum is 65536 characters)");
        comment.body = String(body.body);
        tell({ event: "issue_comment", action: "edited", repo, thread, comment });
        return { status: 200, body: answers.comment(repo, thread, comment) };
      },
    },
    "GET /repos/{owner}/{repo}/commits/{ref}/check-runs": {
      as: need("checks", "read"),
      run: (call, repo) => {
        const app = call.query.get("app_id");
        const found = repo.checks
          .filter((one) => one.sha === call.parameters.ref && (app === null || one.app_id === Number(app)))
          .toReversed();
        // Unless all are asked for, only the newest of each name.
        const all =
          call.query.get("filter") === "all"
            ? found
            : found.filter((one, at) => found.findIndex(({ name }) => name === one.name) === at);
        const listed = all.map((one) => answers.check(one, repo));
        const path = `/repos/${repo.full_name}/commits/${call.parameters.ref}/check-runs`;
        return paged(base(), listed, call, path, (page) => ({ total_count: all.length, check_runs: page }));
      },
    },
    "POST /repos/{owner}/{repo}/check-runs": {
      as: need("checks", "write"),
      run: ({ body }, repo) => {
        const sha = String(body.head_sha);
        if (!hasCommit(repo, sha)) return invalid(`No commit found for SHA: ${sha}`);
        // In the description this stands in words alone.
        if (body.status === "completed" && body.conclusion === undefined) return invalid("conclusion is missing");
        const check: Check = {
          id: state.id(),
          app_id: state.app.id,
          sha,
          name: "",
          external_id: "",
          details_url: null,
          status: "queued",
          conclusion: null,
          output: { title: null, summary: null, text: null },
          actions: [],
          at: now(),
        };
        setCheck(check, body);
        repo.checks.push(check);
        tell({ event: "check_run", action: "created", repo, check });
        return { status: 201, body: answers.check(check, repo) };
      },
    },
    "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}": {
      as: need("checks", "write"),
      run: ({ parameters, body }, repo) => {
        const check = repo.checks.find((one) => one.id === Number(parameters.check_run_id));
        if (check === undefined) return notFound;
        if (check.app_id !== state.app.id)
          return problem(403, "Invalid app_id - check run can only be modified by the GitHub App that created it.");
        setCheck(check, body);
        return { status: 200, body: answers.check(check, repo) };
      },
    },
    "GET /repos/{owner}/{repo}/pulls": {
      as: need("pull_requests", "read"),
      run: (call, repo) => {
        const [user, head] = split(call.query.get("head"));
        const asked = call.query.get("state") ?? "open";
        const owner = (repo.full_name.split("/")[0] ?? "").toLowerCase();
        const found = [...repo.threads.values()]
          .filter(({ pull, state }) => pull !== null && (asked === "all" || state === asked))
          .filter(
            ({ pull, by }) =>
              head === null || (pull?.head === head && (pull.fork ? by.login.toLowerCase() : owner) === user),
          )
          .toSorted((one, other) => other.number - one.number)
          .map((one) => answers.pull(repo, one, "listed"));
        return paged(base(), found, call, `/repos/${repo.full_name}/pulls`, (page) => page);
      },
    },
    "POST /repos/{owner}/{repo}/pulls": {
      as: need("pull_requests", "write"),
      run: ({ body }, repo) => {
        const [head, base_] = [String(body.head), String(body.base)];
        const draft = body.draft === true;
        if (draft && !repo.drafts) return invalid("Draft pull requests are not supported in this repository.");
        const sha = headOf(repo, head);
        if (sha === null) return invalid("Validation Failed: head is invalid");
        if (headOf(repo, base_) === null) return invalid("Validation Failed: base is invalid");
        const there = [...repo.threads.values()].some(
          ({ pull, state }) => state === "open" && pull?.head === head && pull.base === base_,
        );
        if (there) return invalid(`Validation Failed: A pull request already exists for ${head}.`);
        const pull = { head, base: base_, draft, fork: false, sha };
        const thread = state.addThread(repo, {
          title: String(body.title),
          body: String(body.body ?? ""),
          by: state.bot,
          pull,
        });
        tell({ event: "pull_request", action: "opened", repo, thread });
        return { status: 201, body: answers.pull(repo, thread, "whole") };
      },
    },
    "GET /repos/{owner}/{repo}/pulls/{pull_number}": {
      as: need("pull_requests", "read"),
      run: ({ parameters }, repo) => {
        const thread = pullOf(repo, parameters.pull_number);
        return thread === null ? notFound : { status: 200, body: answers.pull(repo, thread, "whole") };
      },
    },
    "PATCH /repos/{owner}/{repo}/pulls/{pull_number}": {
      as: need("pull_requests", "write"),
      run: ({ parameters, body }, repo) => {
        const thread = pullOf(repo, parameters.pull_number);
        if (thread === null) return notFound;
        if (typeof body.title === "string") thread.title = body.title;
        if (typeof body.body === "string") thread.body = body.body;
        tell({ event: "pull_request", action: "edited", repo, thread });
        return { status: 200, body: answers.pull(repo, thread, "whole") };
      },
    },
  };
}

function threadWith(repo: Repo, comment_id: string | undefined): Thread | undefined {
  return [...repo.threads.values()].find(({ comments }) => comments.some(({ id }) => id === Number(comment_id)));
}
function split(head: string | null): readonly [user: string, branch: string | null] {
  if (head === null) return ["", null];
  const at = head.indexOf(":");
  return [head.slice(0, at).toLowerCase(), head.slice(at + 1)];
}

function setCheck(check: Check, body: Json): void {
  const { status, conclusion, output } = body;
  if (typeof status === "string") check.status = status;
  if (typeof conclusion === "string") [check.status, check.conclusion] = ["completed", conclusion];
  else if (status !== undefined && status !== "completed") check.conclusion = null;
  if (typeof body.name === "string") check.name = body.name;
  if (typeof body.external_id === "string") check.external_id = body.external_id;
  if (typeof body.details_url === "string") check.details_url = body.details_url;
  // Their shapes were checked by the description.
  if (output !== undefined) check.output = { ...check.output, ...(output as Partial<Check["output"]>) };
  if (body.actions !== undefined) check.actions = body.actions as Check["actions"];
}
