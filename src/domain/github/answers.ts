/** What is said to whoever wrote a command that decides nothing: how it is written. [GHR-87] [GHR-89] [GHR-90] */
import { limits } from "../../limits.ts";
import type { GithubDecision } from "./deciding.ts";
import { blocks, counted, marker, quoted } from "./words.ts";

const commands = [
  `To wish for something, write /countersign and the wish on a line of its own, outside code, lists, quotes and HTML, in a comment of at most ${counted(limits.github_command_chars)} characters; whatever it begins with, /countersign do: ... makes a task of it.`,
  "To decide or to ask, write a comment that holds one line and nothing else: /countersign approve, /countersign cancel or /countersign status; /countersign deny takes a reason behind it.",
].join(" ");

/** Null where it is no question of how to write it. */
export function answerWords({ what, by }: Pick<GithubDecision, "what" | "by">): string | null {
  switch (what) {
    case "help":
      return commands;
    case "unclear":
      return `What ${by.login} wrote may be meant in more than one way, so it did nothing. ${commands}`;
    case "misplaced":
      return `What ${by.login} wrote stands in a review, where nothing is decided: write it as a comment of the thread.`;
    default:
      return null;
  }
}

/** Where no task of ours stands in the thread. */
export function noTaskWords(said: Pick<GithubDecision, "what" | "by">): string {
  return answerWords(said) ?? "There is no task in this thread: write /countersign and a wish to ask for one.";
}

/** By this the answer to one delivery is found again. */
export function answerMarker(delivery_id: string): string {
  return marker(`answer:${delivery_id}`);
}
export function answerBody(delivery_id: string, words: string): string {
  return blocks([`${answerMarker(delivery_id)}\n**Countersign**`, quoted(words)]);
}
