/** What a scope's runtime object remembers, in memory: it finds what holds all of the words. */
import type { MemoryView } from "../../src/domain/memory.ts";
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import type { Caller, Page } from "../../src/domain/view.ts";
import type { MemoryQuery } from "../../src/http/doors.ts";
import { FakeStanding } from "./standing-door.ts";
import { at } from "./views.ts";

export function memoryOf(id: string, more: Partial<MemoryView> = {}): MemoryView {
  const words = { title: "Build twice", text: "The first build writes a cache.", excerpt: "The first build" };
  return { id, kind: "gotcha", ...words, task_id: "task-1", taint: "member", at, forgotten: false, ...more };
}

export class FakeMemory extends FakeStanding {
  readonly memoryRows = new Map<string, MemoryView>();
  lastSearch: MemoryQuery | null = null;

  async memories(_: Caller, asked: MemoryQuery): Promise<Result<Page<MemoryView>>> {
    this.lastSearch = asked;
    const found = [...this.memoryRows.values()].filter(({ text }) => text.includes(asked.query));
    const items = found.slice(asked.offset, asked.offset + asked.limit);
    const next = asked.offset + asked.limit;
    return ok({ items, next_cursor: found.length > next ? String(next) : null });
  }
  async forgetMemory(_: Caller, id: string, reason: string): Promise<Result<MemoryView>> {
    const found = this.memoryRows.get(id);
    if (found === undefined) return refuse("memory_not_found", "there is no such thing in this scope");
    const left = { ...found, title: "", text: "", excerpt: "", forgotten: true };
    this.memoryRows.set(id, left);
    this.messages.push(`forgotten: ${reason}`);
    return ok(left);
  }
}
