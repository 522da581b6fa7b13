/** A work item as a card shows it: what a yes lets it do, and what is checked afterwards. [PLAN-R*] */
import type { Card } from "../../src/domain/approval-view.ts";
import type { ItemRow } from "./rows.ts";

export function shownItem({ spec, item_hash }: Pick<ItemRow, "spec" | "item_hash">): Card["items"][number] {
  const { tools, paths, commands, hosts, secrets } = spec.allow;
  return {
    id: spec.id,
    item_hash,
    title: spec.title,
    runner: spec.runner,
    depends_on: [...spec.depends_on],
    grants: {
      tools: [...tools],
      paths: [...paths],
      commands: [...commands],
      hosts: [...hosts],
      secrets: [...secrets],
    },
    protect: [...spec.protect],
    verify: spec.verify === "none" ? [] : spec.verify.map((check) => [...check.run]),
    steps: [...spec.steps],
    max_attempts: spec.max_attempts,
    ...(spec.preset === undefined ? {} : { preset: spec.preset }),
  };
}
