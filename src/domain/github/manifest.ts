/**
 * The App as GitHub is asked to make it: no more permissions than the work takes, and the events that begin or change
 * something. And what GitHub answers once it is made. [GHL-50] [GHL-53]
 */
import { z } from "zod";

/** The least: read who may do what, push branches, open pull requests, comment, and show checks. */
export const appPermissions = {
  metadata: "read",
  contents: "write",
  pull_requests: "write",
  issues: "write",
  checks: "write",
} as const;
/** Installation events come unasked. */
export const appEvents = [
  "issues",
  "issue_comment",
  "pull_request",
  "pull_request_review",
  "pull_request_review_comment",
  "check_run",
  "repository",
] as const;

export interface ManifestInput {
  readonly name: string;
  /** The deployment's own address, without a slash at the end. */
  readonly public_url: string;
  /** Where GitHub sends the browser once the App is made. */
  readonly redirect_url: string;
}

export function manifestOf({ name, public_url, redirect_url }: ManifestInput) {
  return {
    name,
    url: public_url,
    description: "Coding agents plan, a person countersigns, a sandbox executes, the runtime verifies.",
    // Nobody but its owner installs it.
    public: false,
    redirect_url,
    hook_attributes: { url: `${public_url}/webhooks/github`, active: true },
    default_permissions: appPermissions,
    default_events: appEvents,
  };
}

/** GitHub takes this many characters of an App's name. */
export const appName = z.string().trim().min(1).max(34);
export const organisation = z.string().regex(/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,98}[A-Za-z0-9])?$/);

/** Of its answer, what is needed; the rest is let go. All of it stands in a line of a file as it is. */
export const madeApp = z.object({
  id: z.number().int().positive(),
  slug: z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$/),
  pem: z
    .string()
    .regex(
      /^-----BEGIN (?:RSA )?PRIVATE KEY-----\r?\n[A-Za-z0-9+/=\r\n]{100,10000}-----END (?:RSA )?PRIVATE KEY-----\s*$/,
    ),
  webhook_secret: z.string().regex(/^[\w.~+/=:-]{16,200}$/),
});
export type MadeApp = z.infer<typeof madeApp>;
