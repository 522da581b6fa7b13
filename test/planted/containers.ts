/** Small bugs in what may leave a container, and in what its object remembers. */
import type { Plant } from "./plants.ts";

const rules = { test: "test/domain/gate.test.ts" } as const;
const gate = { test: "test/agents/container-gate.test.ts" } as const;
const box = { test: "test/agents/container-box.test.ts" } as const;

export const containerPlants: readonly Plant[] = [
  {
    id: "containers-more-query",
    file: "src/domain/gate.ts",
    find: 'asked.method === "GET" && asked.url === ',
    replace: 'asked.method === "GET" && asked.url.split("&")[0] === ',
    why: "a request with more in its query than git asks passes",
    subset: rules,
  },
  {
    id: "containers-readers-push",
    file: "src/domain/gate.ts",
    find: 'push === null ? (["upload"] as const) :',
    replace: 'push === null ? (["upload", "receive"] as const) :',
    why: "a way for reading carries a push",
    subset: rules,
  },
  {
    id: "containers-second-change",
    file: "src/domain/gate.ts",
    find: " || commands.length > 0) return",
    replace: ") return",
    why: "a push may change another branch besides",
    subset: rules,
  },
  {
    id: "containers-any-content",
    file: "src/domain/gate.ts",
    find: "content_type === answers ?",
    replace: "content_type !== null ?",
    why: "a page that repeats the credential reaches the container",
    subset: rules,
  },
  {
    id: "containers-private-host",
    file: "src/domain/gate.ts",
    find: " && !isPrivate(hostname)",
    replace: "",
    why: "a granted name may lead into a private network",
    subset: rules,
  },
  {
    id: "containers-push-unread",
    file: "src/adapters/container-gate.ts",
    find: "way.push === null ? request.body : await held(request.body, way.push)",
    replace: "request.body",
    why: "a push leaves before anybody knows what it changes",
    subset: gate,
  },
  {
    id: "containers-refusals-told",
    file: "src/adapters/container-gate.ts",
    find: "if (passed.body)",
    replace: "if (passed.body || answer.body !== null)",
    why: "what a server says to a refused credential reaches the container",
    subset: box,
  },
  {
    id: "containers-ticket-stays",
    file: "src/adapters/container-gate.ts",
    find: "close: () => void this.#open.delete(key)",
    replace: "close: () => {}",
    why: "a ticket is good after its operation",
    subset: box,
  },
  {
    id: "containers-handed-credential",
    file: "src/adapters/container-box.ts",
    find: "const { credential, pass: _, ...input } = methods[method].input.parse(body);",
    replace: "const { pass: _, ...input } = methods[method].input.parse(body);\n    const { credential } = input;",
    why: "the credential goes into the container with the call",
    subset: box,
  },
  {
    id: "containers-loss-unseen",
    file: "src/adapters/container-box.ts",
    find: "    if (!machine?.running)\n",
    replace: "    if (machine === null)\n",
    why: "a sandbox whose container has ended is asked as if it stood",
    subset: box,
  },
  {
    id: "containers-late-presets",
    file: "src/adapters/container-box.ts",
    find: "presets.length > 0 && known?.ran !== false",
    replace: "presets.length > 0 && known === null",
    why: "an agent's container says which hosts a preset opens",
    subset: box,
  },
  {
    id: "containers-git-anywhere",
    file: "src/adapters/container-box.ts",
    find: 'if (ofGit !== (method === "resolve" || method === "publish"))',
    replace: 'if (!ofGit && (method === "resolve" || method === "publish"))',
    why: "a sandbox is made in the container that pushes",
    subset: box,
  },
  {
    id: "containers-foreign-scope",
    file: "src/adapters/container-box.ts",
    find: "if (scope_id !== (gitScopeOf(this.#parts.name) ?? (await this.#known())?.spec?.scope_id))",
    replace: 'if (scope_id === "")',
    why: "a repository is reached from another scope's container",
    subset: box,
  },
  {
    id: "containers-forgotten-first",
    file: "src/adapters/container-box.ts",
    find: "    if (this.#parts.machine?.running) await this.#parts.machine.destroy();\n    await this.#parts.list.forgetSandbox(this.#parts.name);\n",
    replace:
      "    await this.#parts.list.forgetSandbox(this.#parts.name);\n    if (this.#parts.machine?.running) await this.#parts.machine.destroy();\n",
    why: "a container whose end failed is on no list",
    subset: box,
  },
];
