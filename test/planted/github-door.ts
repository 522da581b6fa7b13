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
    file: "src/domain/github/command-lines.ts",
    find: "quoted ||= /^ {0,3}>/.test(line);",
    replace: "quoted = /^ {0,3}>/.test(line);",
    why: "a command that the page shows inside a quote decides",
    subset: commands,
  },
  {
    id: "github-approve-anything",
    file: "src/domain/github/commands.ts",
    find: "return hidden.length > 0 ? unclear : onlyLine(text.trim());",
    replace: 'return onlyLine(text.trim().split("\\n")[0] ?? "");',
    why: "`/countersign approve` above `but only if CI is green` approves the card that waits",
    subset: commands,
  },
  {
    id: "github-command-in-a-tag",
    file: "src/domain/github/command-lines.ts",
    find: "this.#countTags(plain);",
    replace: "",
    why: "somebody else's words, pasted between tags, ask for a task",
    subset: commands,
  },
  {
    id: "github-event-by-name",
    file: "src/domain/github/events.ts",
    find: 'if (!isOf(event, payload as object)) return ignored("malformed");',
    replace: "",
    why: "the end of a comment, sent again under another event's name, is the end of its issue",
    subset: ignored,
  },
  {
    id: "github-unread-element",
    file: "src/domain/github/text-tags.ts",
    find: "progress rp script",
    replace: "progress script",
    why: "what no browser shows of an annotation is read by the model",
    subset: text,
  },
  {
    id: "github-reference-stays",
    file: "src/domain/github/text-references.ts",
    find: "return end === at ? null : { end, characters };",
    replace: "return null;",
    why: "an unseen character reaches the model by its number",
    subset: text,
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
  {
    id: "github-words-off-the-page",
    file: "src/domain/github/text-judge.ts",
    find: "readings.every((reading) => inOrder(words, reading))",
    replace: "readings.length > 0 || words.length > 0",
    why: "a comment that goes on over a blank line ends for the scanner, and what follows is read by the model",
    subset: { test: "test/domain/github-text-page.test.ts" },
  },
];
