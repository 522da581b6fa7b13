/** A small plan to begin from: one item, two steps, one check. */
export const examplePlan = `---
title: Correct the greeting
goal: The library greets by name
items:
  - id: fix
    title: Greet by name
    runner: steps
    allow:
      paths: ["src/**"]
    protect: ["test/**"]
    verify:
      - { run: ["npm", "test"], timeout_s: 120 }
---
## fix
Change the greeting so that it uses the name it is given.

\`\`\`sh
sed -i 's/Hello, world/Hello, \${name}/' src/greeting.js
\`\`\`
`;
