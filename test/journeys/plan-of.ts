/** Plans as a journey writes them: what matters to the journey is named, the rest is the same for all. */
import { stringify } from "yaml";

export interface Item {
  readonly id: string;
  /** Each becomes one fenced block. */
  readonly steps: readonly string[];
  readonly depends_on?: readonly string[];
  readonly tools?: readonly string[];
  readonly paths?: readonly string[];
  readonly hosts?: readonly string[];
  readonly secrets?: readonly string[];
  readonly protect?: readonly string[];
  readonly verify?: readonly (readonly string[])[];
  readonly max_attempts?: number;
}
export interface Environment {
  readonly setup?: readonly (readonly string[])[];
}

export function planOf(items: readonly Item[], environment: Environment = {}): string {
  const front = {
    title: `Change ${items.map((item) => item.id).join(" and ")}`,
    goal: "A journey through the service",
    ...(environment.setup === undefined ? {} : { environment: { setup: environment.setup } }),
    items: items.map((item) => ({
      id: item.id,
      title: `Change ${item.id}`,
      runner: "steps",
      depends_on: item.depends_on ?? [],
      allow: {
        tools: item.tools ?? ["shell_execute"],
        paths: item.paths ?? ["src/**"],
        ...(item.hosts === undefined ? {} : { hosts: item.hosts }),
        ...(item.secrets === undefined ? {} : { secrets: item.secrets }),
      },
      ...(item.protect === undefined ? {} : { protect: item.protect }),
      verify: (item.verify ?? [["true"]]).map((run) => ({ run, timeout_s: 60 })),
      max_attempts: item.max_attempts ?? 2,
      on_stuck: "escalate",
    })),
  };
  const sections = items.map(({ id, steps }) => `## ${id}\n\n${steps.map(block).join("\n")}`);
  return `---\n${stringify(front)}---\n${sections.join("\n")}`;
}

function block(step: string): string {
  return `\`\`\`sh\n${step}\n\`\`\`\n`;
}
