/** A work item as a card shows it: what a yes lets it do, and what is checked afterwards. [PLAN-R*] */
import type { Card } from "../../src/domain/approval-view.ts";
import { limits } from "../../src/limits.ts";
import type { ItemRow } from "./rows.ts";

type Shown = Card["items"][number];

export function shownItem({ spec, item_hash }: Pick<ItemRow, "spec" | "item_hash">): Shown {
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
    verify_timeouts_s: spec.verify === "none" ? [] : spec.verify.map((check) => check.timeout_s),
    steps: [...spec.steps],
    max_attempts: spec.max_attempts,
    ...(spec.preset === undefined ? {} : { preset: spec.preset }),
    ...(spec.runner === "loop" ? told(spec) : {}),
  };
}

/** What steps are for an item that has some, the briefing is for one that thinks: a yes is a yes to these words. */
function told({ section, skills, on_stuck, budget, touches }: ItemRow["spec"]): Partial<Shown> {
  const also = { skills: [...skills], on_stuck, budget: { ...budget }, touches: [...touches.paths] };
  return { section: shownSection(section), ...also };
}
/** Only of plans that were taken before longer ones were refused. */
function shownSection(section: string): string {
  const most = limits.card_section_chars;
  if (section.length <= most) return section;
  const part = section.slice(0, most).toWellFormed();
  return `${part}\n[cut: the first ${part.length} of ${section.length} characters are here; read the rest in the plan]`;
}
