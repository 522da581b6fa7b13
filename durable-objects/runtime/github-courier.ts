/** Messages for the courier, who is made with the first of them: a scope that joins nobody has none. [GHR-16] */
import { derivedId } from "../../src/domain/ids.ts";
import type { Message } from "../../src/domain/message.ts";
import { courier } from "./directory.ts";
import type { Tx } from "./tx.ts";

export function toCourier(tx: Tx, message: Message): void {
  tx.stores.directory.addAgent(courier);
  tx.send(message);
}

/** The task that a delivery makes, if it makes one: known before anybody has looked at what it asks. */
export function taskIdOf(delivery_id: string): string {
  return `t${derivedId(delivery_id, "github_task", 0).slice(0, 15)}`;
}
