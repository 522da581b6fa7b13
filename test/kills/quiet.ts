/** When a service has come to rest, as far as its API says. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Line } from "./line.ts";

/** Longer than an outbox waits before it sends again. */
const stillLooks = 14;
const lookEachMs = 500;
const quietWithinMs = 180_000;
const queues = z.object({ items: z.array(z.looseObject({ queued: z.number(), leased: z.number() })) });
const page = z.object({ items: z.array(z.unknown()), next_cursor: z.string().nullable() });

/** Once its queues are empty and its audit has stopped growing, nothing is under way any more. */
export async function quiet(line: Line, say: (line: string) => void): Promise<void> {
  const end = Date.now() + quietWithinMs;
  const audit = auditTail(line);
  for (let still = 0; still < stillLooks; ) {
    if (Date.now() > end) return say("it did not become quiet");
    const { items } = queues.parse((await line.get("/api/queues")).body);
    const waits = items.some(({ queued, leased }) => queued + leased > 0);
    const grew = await audit.grew();
    still = waits || grew ? 0 : still + 1;
    await sleep(lookEachMs);
  }
}
/** Reads on from where it left off: the audit is in the order in which its rows were stored. */
function auditTail(line: Line): { grew(): Promise<boolean> } {
  let cursor: string | null = null;
  let rows = -1;
  return {
    async grew() {
      let grew = false;
      for (;;) {
        const at: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
        const found = page.parse((await line.get(`/api/audit?limit=200${at}`)).body);
        grew ||= found.next_cursor !== null || found.items.length !== rows;
        rows = found.items.length;
        if (found.next_cursor === null) return grew;
        cursor = found.next_cursor;
      }
    },
  };
}
