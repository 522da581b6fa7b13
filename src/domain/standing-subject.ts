/** How a standing approval is named where the name of a person would stand. [STA-20] */

/** The name it decides under. A person's name always holds a #, so none can pose as one. */
export function standingSubject(id: string): string {
  return `standing:${id}`;
}
/** The standing approval that decided, or null where a person did. */
export function standingOfSubject(subject: string): string | null {
  return /^standing:([a-z0-9]+)$/.exec(subject)?.[1] ?? null;
}
