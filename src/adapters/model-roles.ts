/**
 * The models of each role as the bindings list them, and what is missing. An entry whose provider cannot be called is
 * left out: a list goes on with the others. A deployment without any model is a whole one. [MODEL-*]
 */
import { type ModelRole, type Models, modelRoles } from "../agents/models.ts";
import { type ModelName, readModelList } from "../domain/model-list.ts";
import { type ModelBindings, Providers } from "./model-providers.ts";
import { SdkModels } from "./models.ts";

export interface RoleBindings extends ModelBindings {
  readonly MODEL_PROXY?: string;
  readonly MODEL_PLANNER?: string;
  readonly MODEL_EXECUTOR?: string;
}

export interface Lack {
  readonly name: string;
  readonly detail: string;
  /** Nobody asked for it: the deployment is whole without. */
  readonly optional: boolean;
}

const variables = { proxy: "MODEL_PROXY", planner: "MODEL_PLANNER", executor: "MODEL_EXECUTOR" } as const;

export function modelsFrom(bindings: RoleBindings, timeout_ms?: number): { models: Models; missing: readonly Lack[] } {
  const providers = new Providers(bindings);
  const missing: Lack[] = [];
  const mindless: ModelRole[] = [];
  const listOf = (role: ModelRole): readonly ModelName[] => {
    const text = bindings[variables[role]] ?? "";
    if (text.trim() === "") {
      mindless.push(role);
      return [];
    }
    const { models, problems } = readModelList(text);
    const usable = models.filter(({ provider }) => providers.lacks(provider) === null);
    const unusable = models.flatMap(({ provider, place }) => {
      const lack = providers.lacks(provider);
      return lack === null ? [] : [`entry ${place} (${provider}) ${lack}`];
    });
    const wrong = [...problems, ...unusable];
    if (wrong.length > 0) missing.push({ name: variables[role], detail: detailOf(usable, wrong), optional: false });
    return usable;
  };
  const [proxy, planner, executor] = modelRoles.map(listOf);
  const lists = { proxy: proxy ?? [], planner: planner ?? [], executor: executor ?? [] };
  if (mindless.length > 0) missing.push(withoutMind(mindless));
  const spec = { lists, providers };
  return { models: new SdkModels(timeout_ms === undefined ? spec : { ...spec, timeout_ms }), missing };
}

function detailOf(usable: readonly ModelName[], wrong: readonly string[]): string {
  const rest = usable.length === 0 ? "The role has no model." : `The role has ${usable.length} of its models.`;
  return `${rest} ${wrong.map((problem) => `${problem[0]?.toUpperCase()}${problem.slice(1)}.`).join(" ")}`;
}

function withoutMind(roles: readonly ModelRole[]): Lack {
  const names = roles.map((role) => variables[role]).join(", ");
  return {
    name: "models",
    detail: `No model is configured for: ${roles.join(", ")}. Planned tasks work in full. To have wishes in free words worked on, set ${names} to provider/model and the provider's key, or start with npm start -- --model-url URL.`,
    optional: true,
  };
}
