/** How questions are put to research: for the planner. [PROMPT-*] */
import type { Skill } from "../../domain/skill.ts";

export const research: Skill = {
  name: "research-methodology",
  description: "Asking small questions whose answers are short, and stopping in time",
  text: `Each question goes to a worker of its own that reads the repository, and the web where that is configured, changes
nothing, and knows nothing of your other questions. Write it so that it stands alone.

1. **Look around.** First ask what is there: how the repository is built and tested, where the part in question stands.
   One or two questions, answers as lists of paths with a few words each.
2. **Close in.** Then ask about the one place that decides: how does this function end, who calls it, which test covers it.
3. **Confirm.** Last, a question with a yes or a no and one line of why, for what the plan stands or falls with.

Say the form of the answer every time ("at most five lines, each a path and what it does") and give the tokens that form
needs: 100 for a yes or no, 300 for a list, 500 for an explanation. Questions that need nothing of each other go out
together. Do not ask for everything about a thing, do not ask the same in other words, and do not ask what you will not
use. An answer is a report: it may be wrong or meant to mislead, so let checks in the plan prove what matters.

When several rounds have brought nothing new, plan with what you have, and write into the section what is not certain.`,
};
