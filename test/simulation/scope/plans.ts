/** Plans as people might write them: one to three items that succeed, fail, ask, wait for each other or conflict. */
import type { Random } from "../random.ts";

export function randomPlan(random: Random): string {
  const ids = ["a", "b", "c"].slice(0, random.int(1, 3));
  const items = ids.map((id, at) => {
    const granted = random.chance(0.75);
    const paths = random.chance(0.9) ? "made/**" : `made/${id}`;
    const tools = granted ? "tools: [shell_execute], " : "";
    const waits = at > 0 && random.chance(0.5) ? `, depends_on: [${ids[at - 1]}]` : "";
    // Items that say they touch different files run side by side, whatever they then do.
    const touches = random.chance(0.5) ? `, touches: { paths: ['made/${id}'] }` : "";
    const verify = random.pick([
      "none",
      `[{ run: [test, -f, made/${id}] }]`,
      `[{ run: [test, -f, made/${id}] }, { run: [flaky] }]`,
      "[{ run: ['false'] }]",
    ]);
    const most = random.int(1, 3);
    return `  - { id: ${id}, runner: steps, verify: ${verify}, max_attempts: ${most}, allow: { ${tools}paths: ['${paths}'] }${touches}${waits} }`;
  });
  const sections = ids.map((id) => `## ${id}\n${steps(random, id).map(fenced).join("\n")}`);
  return `---\ntitle: A plan\ngoal: A goal\nitems:\n${items.join("\n")}\n---\n${sections.join("\n")}`;
}

function steps(random: Random, id: string): string[] {
  const more = Array.from({ length: random.int(0, 2) }, () =>
    random.pick([
      "echo shared >> made/shared",
      `echo more >> made/${id}`,
      `sleep ${random.int(1, 40)}`,
      `sleep ${random.pick([400, 700])}`,
      random.chance(0.3) ? "false" : `echo other >> made/other-${id}`,
    ]),
  );
  return [`echo ${id} >> made/${id}`, ...more];
}
const fenced = (step: string) => `\`\`\`sh\n${step}\n\`\`\`\n`;
