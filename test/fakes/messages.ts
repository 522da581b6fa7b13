/** Messages for tests: valid, small, told apart by number. */
import { build, type Message, type MessageInput } from "../../src/domain/message.ts";

export const testScope = "scopescopescope1";

export function testMessage(number: number, fields: Partial<MessageInput> = {}): Message {
  return build({
    message_id: `message-${number}`,
    trace_id: `trace-${number}-long`,
    scope_id: testScope,
    message_kind: "user_message",
    sender: "user",
    recipient: "proxy",
    content: `message ${number}`,
    taint: "owner",
    created_at: "2026-01-01T00:00:00.000Z",
    ...fields,
  });
}
