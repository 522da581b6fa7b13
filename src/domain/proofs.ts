/**
 * How a decision was proved, weakest first: a bearer token, a person's session on the page, a passkey over the
 * decision's hash. No passkey can be given yet, so no policy may demand one. [APP-43]
 */
export const proofs = ["token", "session", "passkey"] as const;
export type Proof = (typeof proofs)[number];
