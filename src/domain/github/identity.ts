/**
 * How a person of GitHub is named where a person of the scope would stand. A token's name always holds a #, and none
 * begins so, so neither poses as the other; that both may be one person, `personOf` says. [GHR-20]
 */

const prefix = "github:";
/** Nobody pulled the trigger: no login holds a space. */
export const failedCheckSubject = "github: failed check";

export function githubSubject(login: string): string {
  return `${prefix}${login}`;
}
/** Of a subject in small letters: the person's name without where it was given. */
export function withoutGithub(subject: string): string {
  return subject.startsWith(prefix) ? subject.slice(prefix.length).trim() : subject;
}
