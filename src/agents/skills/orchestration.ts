/** How work is cut into items: for the planner. [PROMPT-*] */
import type { Skill } from "../../domain/skill.ts";

export const orchestration: Skill = {
  name: "orchestration-patterns",
  description: "Cutting a goal into items that can be carried out, checked and merged one by one",
  text: `Choose the plainest shape that fits, and say no more than it needs.

- **One item.** The change is small, or its parts make sense only together. This is the usual case.
- **A chain.** A later part builds on what an earlier one merged: give it depends_on. Each link has checks of its own, so
  that a fault is found where it was made.
- **A fan.** Parts that touch different files and need nothing of each other: no depends_on between them. They run side
  by side when their touches do not overlap.
- **A fan that closes.** The same, and one more item that depends on all of them and checks the whole.
- **Draft, then finish.** When the right form is unknown: a first item makes the smallest version that can be checked, a
  second one completes it.

An item is right when one worker who sees nothing but its section could do it, when its checks fail before and pass
after, and when its grant names the files it changes and no others. Two items that change the same file belong in one
item or in a chain.

Money: keep a fifth of the budget or more for planning, asking and planning again; share out most of the rest, more to
the items that are likely to need a second try.

Checks are programs of the repository (its tests, its type checker, its linter). Protect what they are made of. If
nothing checks a part, let the item before it write the check, and protect that check in the item that does the work.`,
};
