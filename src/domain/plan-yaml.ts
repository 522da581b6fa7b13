/**
 * The front matter as plain data, with the place of each value. Only what YAML and JSON share is taken:
 * no anchors, aliases, tags, merge keys or repeated keys, and no nesting that exhausts the stack. [PLAN-*]
 */

import type { Document, ErrorCode } from "yaml";
import { isAlias, isMap, isNode, isPair, isScalar, isSeq, Lexer, LineCounter, parseDocument, visit } from "yaml";
import type { PlanProblem, Position } from "./plan-document.ts";

const maxDepth = 16;

export interface FrontMatter {
  /** Undefined when the YAML cannot be read. */
  readonly value: unknown;
  readonly problems: readonly PlanProblem[];
  /** Place of the value at `path`, or of the last part of it that exists. */
  at(path: readonly PropertyKey[]): Position;
  /** Place of a key of the map at `path`. */
  atKey(path: readonly PropertyKey[], key: string): Position;
}

export function readFrontMatter(text: string, firstLine: number): FrontMatter {
  const lines = new LineCounter();
  const place = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1) - 1 + firstLine, column: Math.max(col, 1) };
  };
  if (tooDeep(text))
    return failed([{ line: firstLine, column: 1, message: `the front matter is nested more than ${maxDepth} deep` }]);
  // Unique keys are checked below: the library's own check takes time quadratic in the number of keys.
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    schema: "core",
    logLevel: "silent",
  });
  const errors = document.errors.map((error) => ({
    ...place(error.pos[0]),
    message: sentences[error.code] ?? `the YAML cannot be read: ${error.message}`,
  }));
  const { problems, stop } = forbidden(document, place);
  if (errors.length > 0 || stop) return failed([...errors, ...problems]);
  return {
    value: document.toJS({ maxAliasCount: 0 }),
    problems,
    at: (path) => place(rangeStart(walk(document, path))),
    atKey: (path, key) => {
      const map = walk(document, path);
      const pair = isMap(map)
        ? map.items.find((item) => isScalar(item.key) && String(item.key.value) === key)
        : undefined;
      return place(rangeStart(pair?.key ?? map));
    },
  };

  function failed(found: readonly PlanProblem[]): FrontMatter {
    const start = { line: firstLine, column: 1 };
    return { value: undefined, problems: found, at: () => start, atKey: () => start };
  }
}

/** Counts brackets and same-line dashes before parsing: the parser recurses, and a deep enough document ends the process. */
function tooDeep(text: string): boolean {
  let brackets = 0;
  let onLine = 0;
  let scalarNext = false;
  for (const lexeme of new Lexer().lex(text)) {
    if (scalarNext) scalarNext = false;
    else if (lexeme === "\u001f") scalarNext = true;
    else if (lexeme === "[" || lexeme === "{") brackets++;
    else if (lexeme === "]" || lexeme === "}") brackets--;
    else if (lexeme === "-" || lexeme === "?") onLine++;
    else if (lexeme.startsWith("\n")) onLine = 0;
    if (brackets > maxDepth || onLine > maxDepth) return true;
  }
  return false;
}

/** `stop`: the document may not be turned into values, for it would grow, recurse or become something else than data. */
function forbidden(
  document: Document,
  place: (offset: number) => Position,
): { problems: PlanProblem[]; stop: boolean } {
  const problems: PlanProblem[] = [];
  let stop = false;
  const report = (node: unknown, message: string): void => {
    problems.push({ ...place(rangeStart(node)), message });
  };
  visit(document, (_key, node, path) => {
    if (path.length > 2 * maxDepth) {
      report(node, `the front matter is nested more than ${maxDepth} deep`);
      stop = true;
      return visit.BREAK;
    }
    if (isAlias(node)) {
      stop = true;
      report(node, "an alias (*name) is not allowed: write the value out");
    } else if (isNode(node)) {
      if (node.anchor !== undefined)
        report(node, "an anchor (&name) is not allowed: write the value out where it is used");
      if (node.tag !== undefined) {
        stop = true;
        report(node, "a tag (!name) is not allowed: remove it");
      }
    }
    if (isMap(node)) repeatedKeys(node.items, report);
    return undefined;
  });
  return { problems, stop };
}

function repeatedKeys(items: readonly unknown[], report: (node: unknown, message: string) => void): void {
  const seen = new Set<string>();
  for (const item of items) {
    if (!isPair(item)) continue;
    if (!isScalar(item.key) || typeof item.key.value !== "string") {
      report(item.key, "a key must be plain text");
      continue;
    }
    const key = item.key.value;
    if (seen.has(key)) report(item.key, `the key "${key}" stands twice: keep one`);
    seen.add(key);
  }
}

function walk(document: Document, path: readonly PropertyKey[]): unknown {
  let node: unknown = document.contents;
  for (const step of path) {
    const next: unknown =
      isMap(node) || isSeq(node) ? node.get(typeof step === "symbol" ? String(step) : step, true) : undefined;
    if (!isNode(next)) return node;
    node = next;
  }
  return node;
}
function rangeStart(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

const sentences: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: "a tab indents this line: use spaces",
  MULTIPLE_DOCS: "the front matter has a second document in it: keep one",
  BAD_INDENT: "the indentation does not fit what stands above: line it up with its neighbours, and close every [ and {",
  BLOCK_AS_IMPLICIT_KEY: "two colons make two keys on one line: put the value in quotes, or on a line of its own",
  BAD_SCALAR_START: "a value cannot start with this sign: put it in quotes",
  MISSING_CHAR: "something is not closed, or a key has no colon: look for a missing quote, bracket or colon",
  UNEXPECTED_TOKEN: "this does not belong here: check quotes, brackets and indentation",
};
