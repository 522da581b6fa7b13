/**
 * `countersign approvals ...`: see what waits for a person, and decide. A yes is only ever sent for the
 * card that was shown, by its hash, and only after somebody said so. [CLI-12] [CLI-13] [CLI-14]
 */
import { z } from "zod";
import { type ApprovalView, approvalView } from "../domain/approval-view.ts";
import { approvalStatuses, page } from "../domain/view.ts";
import { Problem } from "./client.ts";
import { type Call, type Command, type ExitCode, exit, required } from "./command.ts";
import { approvalRow, approvalText } from "./show.ts";
import { UsageError } from "./target.ts";
import { query } from "./tasks.ts";

const string = { type: "string" } as const;
/** What a decision answers: the status is what counts, whatever else comes with it. */
const decided = z.looseObject({ status: z.enum(approvalStatuses) });

export const list: Command = {
  usage: "countersign approvals list [--status pending|approved|denied|expired|superseded] [--limit N] [--cursor C]",
  options: { status: string, limit: string, cursor: string },
  takes: [],
  async run(call) {
    const found = await call.client.get(
      `/api/approvals${query(call, ["status", "limit", "cursor"])}`,
      page(approvalView),
    );
    if (call.json) call.terminal.out(JSON.stringify(found));
    else call.terminal.out(found.items.length === 0 ? "Nothing here." : found.items.map(approvalRow).join("\n"));
    if (!call.json && found.next_cursor !== null) call.terminal.err(`More: --cursor ${found.next_cursor}`);
    return exit.done;
  },
};

export const show: Command = {
  usage: "countersign approvals show ID",
  options: {},
  takes: ["ID"],
  async run(call) {
    const approval = await fetchApproval(call);
    call.terminal.out(call.json ? JSON.stringify(approval) : approvalText(approval));
    return exit.done;
  },
};

export const approve: Command = {
  usage: "countersign approvals approve ID [--yes] [--hash HASH] [--comment TEXT]",
  options: { yes: { type: "boolean" }, hash: string, comment: string },
  takes: ["ID"],
  async run(call) {
    const approval = await fetchApproval(call);
    const seen = call.text("hash");
    if (seen !== undefined && seen !== approval.content_hash) {
      call.terminal.err(
        `The card is not the one you saw: its hash is now ${approval.content_hash}. Nothing was approved.`,
      );
      return exit.failed;
    }
    if (!call.json) call.terminal.out(approvalText(approval));
    if (!(await confirmed(call))) {
      call.terminal.err("Nothing was approved.");
      return exit.failed;
    }
    const comment = call.text("comment");
    const body = { content_hash: approval.content_hash, ...(comment === undefined ? {} : { comment }) };
    return answer(call, approval, "approve", body);
  },
};

export const deny: Command = {
  usage: "countersign approvals deny ID --reason TEXT [--stop]",
  options: { reason: string, stop: { type: "boolean" } },
  takes: ["ID"],
  async run(call) {
    const reason = required(call, "reason");
    const approval = await fetchApproval(call);
    return answer(call, approval, "deny", { reason, stop: call.flag("stop") });
  },
};

async function confirmed(call: Call): Promise<boolean> {
  if (call.flag("yes")) return true;
  const { ask } = call.terminal;
  if (ask === null || call.json)
    throw new UsageError("nobody is here to confirm: read the card with `approvals show`, then add --yes --hash HASH");
  return (await ask('\nType "approve" to countersign exactly this: ')).trim() === "approve";
}

async function answer(call: Call, approval: ApprovalView, verb: "approve" | "deny", body: unknown): Promise<ExitCode> {
  try {
    const { status } = await call.client.post(`${path(call)}/${verb}`, body, decided);
    call.terminal.out(call.json ? JSON.stringify({ id: approval.id, status }) : sentenceFor(status, approval));
    return status === "pending" ? exit.waiting : exit.done;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "already_resolved" || call.json) throw error;
    const now = await fetchApproval(call);
    call.terminal.err(`${error.message}\n${approvalRow(now)}`);
    return exit.failed;
  }
}

function sentenceFor(status: ApprovalView["status"], approval: ApprovalView): string {
  if (status === "approved")
    return `Approved, executing now. Follow it with: npx countersign task watch ${approval.task_id}`;
  if (status === "pending") return "Recorded. It waits for a second approver.";
  return `The approval is now ${status}.`;
}

function fetchApproval(call: Call): Promise<ApprovalView> {
  return call.client.get(path(call), approvalView);
}
function path(call: Call): string {
  return `/api/approvals/${encodeURIComponent(call.args[0] ?? "")}`;
}
