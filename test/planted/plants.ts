/**
 * Small bugs put in on purpose, one at a time, to see that the tests find them: `npm run test:planted`. Each is one
 * replacement in one file; what must find it is a short run of the simulation, or one file of tests. [PLT-*]
 */
import { approvalPlants } from "./approvals.ts";
import { containerPlants } from "./containers.ts";
import { courierPlants } from "./courier.ts";
import { credentialPlants } from "./credentials.ts";
import { gatePlants } from "./gates.ts";
import { githubApiPlants } from "./github-api.ts";
import { githubDoorPlants } from "./github-door.ts";
import { githubLinkPlants } from "./github-links.ts";
import { githubRuntimePlants } from "./github-runtime.ts";
import { grantScriptPlants } from "./grant-scripts.ts";
import { grantWordPlants } from "./grant-words.ts";
import { grantPlants } from "./grants.ts";
import { ladderPlants } from "./ladder.ts";
import { lentPlants } from "./lent.ts";
import { loopPlants } from "./loop.ts";
import { memoryPlants } from "./memory.ts";
import { messagingPlants } from "./messaging.ts";
import { mindPlants } from "./minds.ts";
import { modelPlants } from "./models.ts";
import { peoplePlants } from "./people.ts";
import { plannerPlants } from "./planner.ts";
import { policyPlants } from "./policy.ts";
import { scopePlants } from "./scope.ts";
import { shellPlants } from "./shell.ts";
import { standingPlants } from "./standing.ts";
import { textPlants } from "./texts.ts";
import { tokenPlants } from "./tokens.ts";
import { toolPlants } from "./tools.ts";
import { unnamedPlants } from "./unnamed.ts";
import { webhookPlants } from "./webhooks.ts";
import { worstCasePlants } from "./worst-case.ts";
import { worstMindPlants } from "./worst-mind.ts";

export interface Plant {
  readonly id: string;
  /** From the project's root. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** What is wrong then, in a few words. */
  readonly why: string;
  readonly subset: Subset;
}
/** What must fail: the messaging simulation's subset of that name, a test file, or so many steps of the scope simulation, or walks. */
export type Subset =
  | { readonly simulation: string }
  | { readonly test: string }
  | { readonly scope: { readonly seed: string; readonly steps: number } }
  | { readonly approvals: { readonly seed: string; readonly walks: number } };

export const plants: readonly Plant[] = [
  ...approvalPlants,
  ...containerPlants,
  ...credentialPlants,
  ...courierPlants,
  ...githubApiPlants,
  ...ladderPlants,
  ...lentPlants,
  ...loopPlants,
  ...memoryPlants,
  ...messagingPlants,
  ...mindPlants,
  ...modelPlants,
  ...peoplePlants,
  ...plannerPlants,
  ...policyPlants,
  ...scopePlants,
  ...shellPlants,
  ...tokenPlants,
  ...toolPlants,
  ...gatePlants,
  ...githubDoorPlants,
  ...githubLinkPlants,
  ...githubRuntimePlants,
  ...standingPlants,
  ...textPlants,
  ...grantPlants,
  ...grantScriptPlants,
  ...grantWordPlants,
  ...unnamedPlants,
  ...webhookPlants,
  ...worstCasePlants,
  ...worstMindPlants,
];

/** What is wrong with the list itself, given each file's text; nothing when it can be planted. */
export function problemsOf(list: readonly Plant[], read: (file: string) => string | null): string[] {
  return list.flatMap((plant, at) => {
    const { id, file, find, replace } = plant;
    const text = read(file);
    const times = text === null ? 0 : text.split(find).length - 1;
    const twice = list.findIndex((other) => other.id === id) !== at;
    return [
      ...(twice ? [`${id}: the name is taken`] : []),
      ...(text === null ? [`${id}: there is no ${file}`] : []),
      ...(text !== null && times !== 1 ? [`${id}: its text stands ${times} times in ${file}`] : []),
      ...(find === replace ? [`${id}: it changes nothing`] : []),
    ];
  });
}
