/**
 * The conversation of a loop that waits: stored where its workspace is stored, and read back by the next entry of the
 * same attempt, in a fresh sandbox. [MIND-*]
 */
import { z } from "zod";
import { canonicalJson } from "../../domain/canonical.ts";
import type { Scene } from "../attempt-scene.ts";
import { type LoopState, loopState } from "../mind.ts";
import { turn } from "../models.ts";

const transcript = z.strictObject({ turns: z.array(turn), state: loopState });
export type Transcript = z.infer<typeof transcript>;

export async function keepTranscript(scene: Scene, call_id: string, state: LoopState): Promise<string> {
  const { context, order, ports } = scene;
  const key = `${context.scope_id}/attempts/${order.attempt_id}/${order.entry}-${call_id}.transcript.json`;
  await ports.artifacts.put(key, new TextEncoder().encode(canonicalJson({ turns: context.turns, state })));
  return key;
}

/** A reason instead when there is none to go on with. */
export async function readTranscript(scene: Scene, key: string | undefined): Promise<Transcript | string> {
  const bytes = key === undefined ? null : await scene.ports.artifacts.get(key);
  if (bytes === null) return "the stored conversation is missing";
  try {
    const { turns, state } = transcript.parse(JSON.parse(new TextDecoder().decode(bytes)));
    // The time a person took is not time in which the loop got nowhere.
    return { turns, state: { ...state, moved_at: scene.ports.clock.now() } };
  } catch {
    return "the stored conversation cannot be read";
  }
}
