/** What the courier posts webhooks through: types only. Whoever implements it makes the signature; no secret passes here. */
import type { PostAnswer } from "../domain/webhook-order.ts";

export interface Posted {
  readonly scope_id: string;
  readonly webhook_id: string;
  /** Of the secrets to sign with, newest first. */
  readonly secret_versions: readonly number[];
  readonly url: string;
  /** `webhook-id`: the same at every try. */
  readonly id: string;
  readonly body: string;
}
export interface WebhookPost {
  /** One POST, ended within `webhook_post_ms`. Never rejects: what goes wrong is an answer as well. */
  post(posted: Posted): Promise<PostAnswer>;
}
