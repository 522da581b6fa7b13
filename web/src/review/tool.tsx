/** The one call a tool-call card is about: its tool, and each argument as it would be passed. [WEB-10] */
import type { ApprovalView } from "../api/queries.ts";
import { Hash } from "../ui/hash.tsx";
import { Pre } from "../ui/pre.tsx";
import { Shown } from "../ui/shown.tsx";

type ToolCall = NonNullable<ApprovalView["card"]["tool"]>;

export function Tool({ tool }: { readonly tool: ToolCall }) {
  return (
    <section aria-label={isHeld(tool) ? "What is held back" : "The call"}>
      <h2>
        {isHeld(tool) ? "Held back" : "The call"}: <Shown text={tool.name} line />
      </h2>
      {argumentsOf(tool.arguments).map(([name, value]) => (
        <figure className="code" key={name}>
          {name !== "" && (
            <figcaption>
              <Shown text={name} line />
            </figcaption>
          )}
          <Pre>
            <Shown text={value} />
          </Pre>
        </figure>
      ))}
      {!isHeld(tool) && (
        <div className="quiet">
          Workspace as it stands: <Hash value={tool.workspace_tree} label="Workspace tree" />
        </div>
      )}
    </section>
  );
}

/** A message that a gate holds: it has no workspace. */
function isHeld(tool: ToolCall): boolean {
  return tool.workspace_tree === "";
}

/** Arguments are canonical JSON. Text is shown as the text it is, so that a command of many lines reads as one. */
export function argumentsOf(json: string): readonly (readonly [name: string, value: string])[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return [["", json]];
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [["", json]];
  const entries = Object.entries(value);
  if (entries.length === 0) return [["", "It takes no arguments."]];
  return entries.map(([name, inner]) => [name, typeof inner === "string" ? inner : JSON.stringify(inner, null, 2)]);
}
