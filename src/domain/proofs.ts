/**
 * How a decision was proved, weakest first: a bearer token, a person's session on the page, a passkey over the
 * decision's hash. No passkey can be given yet, so no policy may demand one. What GitHub says of a person proves as
 * much as a token. [APP-43] [GHR-21]
 */
export const proofs = ["token", "session", "passkey", "github"] as const;
export type Proof = (typeof proofs)[number];

const strengths: Readonly<Record<Proof, number>> = { token: 0, github: 0, session: 1, passkey: 2 };
export function strengthOf(proof: Proof): number {
  return strengths[proof];
}
