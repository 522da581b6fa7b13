/**
 * What a check run means to us: somebody else's failed on a branch of ours, or a person pressed a button of our own.
 * [GHI-14] [GHI-15]
 */
import { isOurs } from "./branches.ts";
import type { GithubIdentity } from "./events.ts";
import type { Ignored } from "./ignored.ts";
import { momentOf, type ReadCheck, type ReadRepository, readCheck, written } from "./payload.ts";
import type { GithubPerson, Happening } from "./shapes.ts";
import { listed, sameName, type Triggers } from "./triggers.ts";

interface SeenCheck {
  readonly action: string;
  readonly payload: unknown;
  readonly repository: ReadRepository;
  readonly sender: GithubPerson | null;
  readonly identity: GithubIdentity;
  readonly triggers: Triggers;
}

export function checkHappening(seen: SeenCheck): Happening | Ignored {
  const { run, pressed } = readCheck(seen.payload);
  if (run === null || run.app === null) return "malformed";
  const ours = run.app.id === seen.identity.app_id;
  if (seen.action === "requested_action") return ours ? button(seen, run, pressed ?? "") : "not_ours";
  // Who pushed what was checked may be ourselves: it is the check's own App that counts.
  return ours ? "self" : failure(seen, run, run.app);
}

function button({ sender, identity, triggers }: SeenCheck, run: ReadCheck, pressed: string): Happening | Ignored {
  if (sender === null || run.external_id === "") return "malformed";
  if (sameName(sender.login, identity.bot_login)) return "self";
  if (sender.is_bot && !listed(triggers.bots, sender.login)) return "bot";
  const [, word = "cancel", hash = null] = /^(?:(approve|deny):([0-9a-f]{12})|cancel)$/.exec(pressed) ?? ["", "", ""];
  if (word !== "approve" && word !== "deny" && word !== "cancel") return "unknown_button";
  return {
    kind: "decision",
    what: word,
    by: sender,
    reason: null,
    hash,
    via: "button",
    said_at: run.completed_at,
    thread: null,
    task_id: run.external_id,
  };
}

function failure(
  { repository, triggers }: SeenCheck,
  run: ReadCheck,
  app: NonNullable<ReadCheck["app"]>,
): Happening | Ignored {
  if (run.conclusion !== "failure" && run.conclusion !== "timed_out") return "not_failed";
  const branch = run.check_suite?.head_branch ?? "";
  if (!isOurs(branch)) return "not_ours";
  if (!triggers.failed_check) return "trigger_off";
  // A fork may name its branch as it likes.
  const pull = run.pull_requests.find(({ head }) => head?.ref === branch && head.repo?.id === repository.id);
  if (pull === undefined || pull.head === null) return "no_pull";
  if (pull.head.sha !== run.head_sha) return "outdated";
  const { name, conclusion, output } = run;
  const at = momentOf(run.completed_at);
  const text = [`The check ${name} ended as ${conclusion}.`, output?.title ?? "", output?.summary ?? ""];
  return {
    kind: "wish",
    trigger: "failed_check",
    by: null,
    thread: {
      kind: "pull",
      number: pull.number,
      title: `The check ${name} fails`,
      url: repository.html_url === "" ? "" : `${repository.html_url}/pull/${pull.number}`,
      head: { branch, sha: pull.head.sha },
    },
    texts: [
      written({ id: app.id, login: `${app.slug}[bot]`, is_bot: true }, text.filter((part) => part !== "").join("\n\n")),
    ],
    labels: [],
    follows: branch,
    comment_id: null,
    ...(at === undefined ? {} : { at }),
  };
}
