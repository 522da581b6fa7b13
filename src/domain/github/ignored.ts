/** Why an event is let go by, in one fixed word each, so that they can be counted. [GHI-4] */
export const ignoredWhy = [
  "ping",
  /** An event, or an action of one, that begins nothing here. */
  "unknown_event",
  "unknown_action",
  /** A field that we need is missing or odd. */
  "malformed",
  /** It came from a webhook that is no App's. */
  "no_installation",
  /** The repository belongs to no scope. */
  "not_linked",
  /** We did it ourselves. */
  "self",
  "bot",
  "no_command",
  /** Words were changed that no open task was made of. */
  "no_task",
  "trigger_off",
  "other_label",
  "other_person",
  /** A check or a branch of somebody else's. */
  "not_ours",
  "not_failed",
  /** A check of a commit that its branch has left behind. */
  "outdated",
  "no_pull",
  "unknown_button",
] as const;
export type Ignored = (typeof ignoredWhy)[number];
