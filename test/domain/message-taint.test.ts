import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { derive, joinTaint, taints } from "../../src/domain/message.ts";
import { testMessage } from "../fakes/messages.ts";

const agents = ["proxy", "planner", "verifier", "crew-3"];

describe("taint", () => {
  it("[MSG-8] the join of taints is the least trusted of them, in any order and number", () => {
    for (const [a, low] of taints.entries())
      for (const [b, high] of taints.entries()) expect(joinTaint(low, high)).toBe(taints[Math.max(a, b)]);
    expect(joinTaint()).toBe("owner");
    const some = fc.array(fc.constantFrom(...taints));
    fc.assert(fc.property(some, some, (a, b) => joinTaint(...a, ...b) === joinTaint(joinTaint(...b), joinTaint(...a))));
  });
  it("[MSG-8] along any chain of messages it never falls, whatever a sender claims", () => {
    const hop = fc.record({
      from: fc.constantFrom(...agents),
      to: fc.constantFrom(...agents),
      claims: fc.option(fc.constantFrom(...taints), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.constantFrom(...taints), fc.array(hop, { maxLength: 12 }), (start, hops) => {
        let last = testMessage(1, { taint: start });
        for (const [index, { from, to, claims }] of hops.entries()) {
          const next = derive(last, {
            message_id: `message-${index + 2}`,
            message_kind: "agent_message",
            sender: from,
            recipient: to,
            content: "on",
            created_at: last.created_at,
            ...(claims === undefined ? {} : { taint: claims }),
          });
          if (taints.indexOf(next.taint) < taints.indexOf(last.taint)) return false;
          if (claims !== undefined && taints.indexOf(next.taint) < taints.indexOf(claims)) return false;
          last = next;
        }
        return true;
      }),
    );
  });
  it("[MSG-9] what follows from a message keeps its trace, scope and task, and the task only unless it names another", () => {
    const cause = testMessage(1, { task_id: "task-1", taint: "member" });
    const fields = {
      message_id: "message-2",
      message_kind: "plan_request",
      sender: "proxy",
      recipient: "planner",
      content: "",
      payload: { repo: "/r", ref: "HEAD" },
      created_at: cause.created_at,
    } as const;
    const forged = { ...fields, trace_id: "another-trace", scope_id: "anotherscope1234" };
    expect(derive(cause, forged)).toMatchObject({
      trace_id: cause.trace_id,
      scope_id: cause.scope_id,
      task_id: "task-1",
      taint: "member",
    });
    expect(derive(cause, { ...fields, task_id: null }).task_id).toBeNull();
    expect(() => derive(cause, { ...fields, recipient: "verifier" })).toThrow("no route");
  });
});
