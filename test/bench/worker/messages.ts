/** The messages that are measured: one ordinary request of about 700 bytes, told apart by its id. */
import { canonicalJson } from "../../../src/domain/canonical.ts";
import type { Message } from "../../../src/domain/message.ts";
import { testMessage } from "../../fakes/messages.ts";

const template = testMessage(0, {
  content: "Rename the function that parses the settings, and every place that calls it. ".repeat(3),
  task_id: "task-0123456789abcdef",
});

/** Of one series, by number. Built once and copied: building is not what is measured. */
export function messageAt(series: string, number: number): Message {
  return { ...template, message_id: `message-${series}-${number}` };
}
export function messagesOf(series: string, count: number): Message[] {
  return Array.from({ length: count }, (_, number) => messageAt(series, number));
}

/** The same message as a text of the same length, for those who store a text and ask nothing more. */
export function textAt(series: string, number: number): string {
  return text.replace(placeholder, `message-${series}-${number}`);
}
const placeholder = "message-placeholder";
const text = canonicalJson({ ...template, message_id: placeholder });
