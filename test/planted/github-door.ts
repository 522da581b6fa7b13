/** Small bugs at GitHub's door: what is signed, whose it is, what it asks, and what of it a model may read. */
import type { Plant } from "./plants.ts";

const door = { test: "test/http/github.test.ts" } as const;
const events = { test: "test/domain/github-events.test.ts" } as const;
const ignored = { test: "test/domain/github-ignored.test.ts" } as const;
const commands = { test: "test/domain/github-commands.test.ts" } as const;
const text = { test: "test/domain/github-text.test.ts" } as const;

export const githubDoorPlants: readonly Plant[] = [
  {
    id: "github-first-secret-only",
    file: "src/http/hmac.ts",
    find: "return fits.includes(true);",
    replace: "return fits[0] === true;",
    why: "while the secret is being replaced, what the other one signed is refused",
    subset: door,
  },
  {
    id: "github-delivery-by-case",
    file: "src/http/github.ts",
    find: '(c.req.header("x-github-delivery") ?? "").toLowerCase()',
    replace: 'c.req.header("x-github-delivery") ?? ""',
    why: "an id written in capitals is another delivery, or none",
    subset: door,
  },
  {
    id: "github-count-nowhere",
    file: "src/http/github.ts",
    find: 'if (read.kind === "ignored") return ignore(ports, scope_id, sent, read.why);',
    replace: 'if (read.kind === "ignored") return ignore(ports, null, sent, read.why);',
    why: "a scope's own ignored events are counted for the deployment",
    subset: door,
  },
  {
    id: "github-fork-is-ours",
    file: "src/domain/github/payload.ts",
    find: "head !== null && head.repo?.id === repository_id && base?.repo?.id === repository_id",
    replace: "head !== null && base?.repo?.id === repository_id",
    why: "a fork's branch that is called like ours is worked on",
    subset: events,
  },
  {
    id: "github-bot-listed-is-us",
    file: "src/domain/github/events.ts",
    find: 'if (sameName(by.login, identity.bot_login)) return "self";',
    replace: 'if (sameName(by.login, identity.bot_login) && !listed(triggers.bots, by.login)) return "self";',
    why: "our own App, when somebody lists it, answers itself",
    subset: ignored,
  },
  {
    id: "github-stale-check",
    file: "src/domain/github/check-events.ts",
    find: 'if (pull.head.sha !== run.head_sha) return "outdated";',
    replace: "",
    why: "the failure of a commit that was corrected already begins a task",
    subset: events,
  },
  {
    id: "github-quoted-command",
    file: "src/domain/github/commands.ts",
    find: 'line.startsWith(">") || (quoted && line.trim() !== "")',
    replace: 'line.startsWith(">")',
    why: "a command that the page shows inside a quote decides",
    subset: commands,
  },
  {
    id: "github-approve-anything",
    file: "src/domain/github/commands.ts",
    find: 'return more.length === 0 ? { what, hash: null } : { what: "unclear" };',
    replace: "return { what, hash: null };",
    why: "`/countersign approve the new page` approves the card that waits",
    subset: commands,
  },
  {
    id: "github-fence-in-a-list",
    file: "src/domain/github/text-blocks.ts",
    find: "(top && !listed)",
    replace: "top",
    why: "what follows a list with a fence in it is taken for code, and its comments reach the model",
    subset: text,
  },
  {
    id: "github-comment-to-nowhere",
    file: "src/domain/github/text-marks.ts",
    find: "if (html) return this.#hide(this.#text.length);",
    replace: "",
    why: "a comment that never ends is hidden on the page, and read by the model",
    subset: text,
  },
  {
    id: "github-title-stays",
    file: "src/domain/github/text-marks.ts",
    find: "if (end !== null) this.#hide(end + 1);",
    replace: "",
    why: "a link's title, which no page shows, is read by the model",
    subset: text,
  },
];
