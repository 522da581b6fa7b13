/** A task's phases as they are stored, with the tokens that were charged while each was open. [ROW-*] */
import { z } from "zod";
import { phaseView } from "../../src/domain/view.ts";
import { storedCount } from "./mind-rows.ts";

export const phaseRow = phaseView.extend({ id: z.string(), task_id: z.string(), tokens: storedCount });
export type PhaseRow = z.infer<typeof phaseRow>;
