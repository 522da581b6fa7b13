/** `countersign webhooks ...`: who is told of events, what was delivered to them, and their secrets, each shown once. [WBH-*] */
import { page } from "../domain/view.ts";
import { visibleLine } from "../domain/visible.ts";
import { type DeliveryView, deliveryView, type WebhookView, webhookMade, webhookView } from "../domain/webhooks.ts";
import { wholeOf } from "./answers.ts";
import { type Call, type Command, exit } from "./command.ts";
import { countOf } from "./counts.ts";
import { UsageError } from "./target.ts";
import { query } from "./tasks.ts";

const string = { type: "string" } as const;

export const list: Command = {
  usage: "countersign webhooks list",
  options: {},
  takes: [],
  async run(call) {
    const found = await call.client.get("/api/webhooks", wholeOf(webhookView));
    if (call.json) call.terminal.out(JSON.stringify(found));
    else call.terminal.out(found.items.length === 0 ? "Nothing here." : found.items.map(row).join("\n"));
    return exit.done;
  },
};

export const add: Command = {
  usage: "countersign webhooks add URL --event TYPE ... [--description TEXT]",
  options: { event: { type: "string", multiple: true }, description: string },
  takes: ["URL"],
  about: "TYPE is an event's, such as task_complete, phase_start or phase_start:coding; * is all but agent_output.",
  async run(call) {
    const events = call.texts("event");
    if (events.length === 0) throw new UsageError(`--event is required\nusage: ${this.usage}\n${this.about}`);
    const description = call.text("description") ?? "";
    const made = await call.client.post("/api/webhooks", { url: call.args[0], events, description }, webhookMade);
    call.terminal.out(call.json ? JSON.stringify(made) : `${text(made)}\n${secret(made.secret)}`);
    return exit.done;
  },
};

export const show: Command = {
  usage: "countersign webhooks show ID",
  options: {},
  takes: ["ID"],
  run: async (call) => said(call, await call.client.get(path(call), webhookView)),
};
export const enable: Command = {
  usage: "countersign webhooks enable ID",
  options: {},
  takes: ["ID"],
  run: async (call) => said(call, await call.client.post(`${path(call)}/enable`, {}, webhookView)),
};
export const disable: Command = {
  usage: "countersign webhooks disable ID",
  options: {},
  takes: ["ID"],
  run: async (call) => said(call, await call.client.post(`${path(call)}/disable`, {}, webhookView)),
};
export const remove: Command = {
  usage: "countersign webhooks remove ID",
  options: {},
  takes: ["ID"],
  async run(call) {
    const gone = await call.client.remove(path(call), {}, webhookView);
    call.terminal.out(call.json ? JSON.stringify(gone) : `Removed: ${gone.id}`);
    return exit.done;
  },
};
export const rotate: Command = {
  usage: "countersign webhooks rotate ID",
  options: {},
  takes: ["ID"],
  async run(call) {
    const rotated = await call.client.post(`${path(call)}/rotate`, {}, webhookMade);
    call.terminal.out(call.json ? JSON.stringify(rotated) : `${text(rotated)}\n${secret(rotated.secret)}`);
    return exit.done;
  },
};

export const test: Command = {
  usage: "countersign webhooks test ID",
  options: {},
  takes: ["ID"],
  async run(call) {
    const made = await call.client.post(`${path(call)}/test`, {}, deliveryView);
    call.terminal.out(call.json ? JSON.stringify(made) : `On its way: ${made.id}`);
    return exit.done;
  },
};
export const deliveries: Command = {
  usage: "countersign webhooks deliveries ID [--limit N] [--cursor C]",
  options: { limit: string, cursor: string },
  takes: ["ID"],
  async run(call) {
    const found = await call.client.get(
      `${path(call)}/deliveries${query(call, ["limit", "cursor"])}`,
      page(deliveryView),
    );
    if (call.json) call.terminal.out(JSON.stringify(found));
    else call.terminal.out(found.items.length === 0 ? "Nothing here." : found.items.map(delivered).join("\n"));
    if (!call.json && found.next_cursor !== null) call.terminal.err(`More: --cursor ${found.next_cursor}`);
    return exit.done;
  },
};
export const redeliver: Command = {
  usage: "countersign webhooks redeliver ID DELIVERY",
  options: {},
  takes: ["ID", "DELIVERY"],
  async run(call) {
    const which = encodeURIComponent(call.args[1] ?? "");
    const again = await call.client.post(`${path(call)}/deliveries/${which}/redeliver`, {}, deliveryView);
    call.terminal.out(call.json ? JSON.stringify(again) : delivered(again));
    return exit.done;
  },
};

function path(call: Call): string {
  return `/api/webhooks/${encodeURIComponent(call.args[0] ?? "")}`;
}
function said(call: Call, webhook: WebhookView) {
  call.terminal.out(call.json ? JSON.stringify(webhook) : text(webhook));
  return exit.done;
}
/** The one time it is seen. */
export function secret(text: string): string {
  return `secret    ${text}\nKeep it now: it is not shown again.`;
}
function row({ id, status, open, url, events }: WebhookView): string {
  return `${id}  ${status.padEnd(8)}  ${countOf(open, "open delivery", "open deliveries")}  ${visibleLine(url)}  ${events.join(" ")}`;
}
function text(webhook: WebhookView): string {
  const { why, failing_since, description, created_by, created_at, secret_version, old_secret_until } = webhook;
  const old = old_secret_until === null ? "" : `, the one before it signs until ${old_secret_until}`;
  return [
    row(webhook),
    ...(description === "" ? [] : [`for       ${visibleLine(description)}`]),
    `made by   ${visibleLine(created_by)} at ${created_at}`,
    `signs by  secret ${secret_version}${old}`,
    ...(why === null ? [] : [`why       ${visibleLine(why)}`]),
    ...(failing_since === null ? [] : [`failing   since ${failing_since}`]),
  ].join("\n");
}
function delivered({ id, state, tries, event_type, event_seq, created_at, last, next_at }: DeliveryView): string {
  const how = last === null ? "" : `  ${last.status ?? "no answer"}: ${visibleLine(last.words)}`;
  const next = next_at === null || last === null ? "" : `  next ${next_at}`;
  return `${id}  ${state.padEnd(4)}  ${countOf(tries, "try", "tries")}  ${event_type} ${event_seq}  ${created_at}${how}${next}`;
}
