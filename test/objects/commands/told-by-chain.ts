/** One object's audit chain as `simulation/history.ts` judges it: what its queues did, and which attempts began. [KILL-6] */
import { type Delivery, delivery } from "../../../src/domain/delivery.ts";
import { derivedId } from "../../../src/domain/ids.ts";
import type { AuditView } from "../../../src/domain/record-view.ts";
import { limits } from "../../../src/limits.ts";
import type { Entry } from "../../simulation/history.ts";

export interface Chain {
  readonly object: string;
  readonly links: readonly AuditView[];
  /** Leases that were prolonged: telemetry knows of them, the chain does not. In the order of their time. */
  readonly beats?: readonly Beat[];
}
export interface Beat {
  readonly queue: string;
  readonly message_id: string;
  readonly at: number;
}

/** Everything of one object, in the order of its chain; a clock that was set back does not move it. */
export function entriesOf({ object, links, beats = [] }: Chain): Entry[] {
  const deliveries = new Map<string, number>();
  const leases = new Map<string, Extract<Entry, { what: "lease" }>>();
  const waiting = [...beats];
  let at = 0;
  /** What was prolonged by then. */
  const beaten = (until: number): Entry[] => {
    const found: Entry[] = [];
    for (let beat = waiting[0]; beat !== undefined && beat.at <= until; beat = waiting[0]) {
      waiting.shift();
      const lease = leases.get(beat.message_id);
      if (lease?.queue !== `${object}/${beat.queue}`) continue;
      const expires_at = Math.max(lease.expires_at, beat.at + limits.heartbeat_extend_ms);
      leases.set(beat.message_id, { ...lease, expires_at });
      found.push({ ...lease, at: beat.at, what: "heartbeat", ok: true, expires_at });
    }
    return found;
  };
  return links.flatMap((link): Entry[] => {
    at = Math.max(at, Date.parse(link.created_at));
    return [...beaten(at), ...told(link)];
  });
  function told(link: AuditView): Entry[] {
    const started = startedIn(link);
    if (started !== null) {
      const lease = leases.get(started);
      // Its queue and message are the lease's; without one there is no place to tell of it.
      return lease === undefined ? [] : [{ ...lease, at, what: "effect", process: String(link.details.agent) }];
    }
    if ((link.event_type !== "enqueue" && link.event_type !== "dequeue") || link.message_id === null) return [];
    const { message_id } = link;
    const seen = {
      at,
      process: String(link.details.holder ?? object),
      queue: `${object}/${link.details.queue}`,
      message_id,
    };
    const lease_id = String(link.details.lease_id);
    const epoch = Number(link.details.epoch);
    const before = deliveries.get(message_id) ?? 0;
    const now = Number(link.details.deliveries ?? 0);
    deliveries.set(message_id, now);
    switch (`${link.event_type} ${link.decision}`) {
      case "enqueue accepted":
        return [
          { ...seen, what: "invoke", ...deliveryOf(link) },
          { ...seen, what: "return", ok: true },
        ];
      case "enqueue requeued":
        return [{ ...seen, what: "requeue", forgives: "all" }];
      case "dequeue leased": {
        const lease = { ...seen, what: "lease", lease_id, epoch, expires_at: at + limits.lease_ms } as const;
        leases.set(message_id, lease);
        return [lease];
      }
      case "dequeue acked":
        return [{ ...seen, what: "ack", lease_id, epoch, ok: true }];
      case "dequeue nacked":
        return [{ ...seen, what: "nack", lease_id, epoch, ok: true }];
      case "dequeue expired":
        return [{ ...seen, what: "expire", lease_id, epoch }];
      case "dequeue dead":
        return [{ ...seen, what: "dead" }];
      case "dequeue requeued":
        return [{ ...seen, what: "requeue", forgives: now < before ? "one" : "none" }];
      default:
        return [];
    }
  }
}
/** What a kind is given stands in one table of the product; an unknown kind would be judged as the usual one. */
function deliveryOf(link: AuditView): Partial<Delivery> {
  const kind = String(link.details.message_kind);
  return Object.entries(delivery).find(([name]) => name === kind)?.[1] ?? {};
}
/** The request whose attempt began: what an entry of `executor_queue` is for. */
function startedIn(link: AuditView): string | null {
  if (link.event_type !== "transition" || link.decision !== "attempt_started") return null;
  return derivedId(String(link.details.attempt_id), "execution_request", 0);
}
