/**
 * What a shell script would run, read from its syntax: plain commands with their words, the files its
 * redirects touch, and whether anything is only known when it runs. It never guesses: what it cannot
 * read whole it says so. [SH-*]
 */

import type { Assignment, Command, Redirection, SyntaxNode, Word, WordPart } from "unbash";
import { forEachChild, parse } from "unbash";
import { unwrap } from "./shell-wrappers.ts";

export const maxScriptBytes = 16 * 1024;
export const maxCommands = 200;
const maxScriptDepth = 4;

export interface ShellCommand {
  /** Words as the program gets them; a word only known at run time stands as it is written. */
  readonly argv: readonly string[];
  /** `argv`, then what each wrapper in it (`sudo`, `env`, `timeout` ...) would run. */
  readonly runs: readonly (readonly string[])[];
  /** Names set before the command, or alone. */
  readonly assignments: readonly string[];
  /** Some word or redirect is only known at run time. */
  readonly dynamic: boolean;
}
export interface ShellReading {
  readonly commands: readonly ShellCommand[];
  /** Redirect targets, as written. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Something is only known when it runs, or changes what a later word means. */
  readonly dynamic: boolean;
  /** The script changes its directory, so a relative path in it may lead elsewhere. */
  readonly moves: boolean;
  readonly parse_error: string | null;
}

interface Gathered {
  commands: ShellCommand[];
  reads: string[];
  writes: string[];
  dynamic: boolean;
  moves: boolean;
  parse_error: string | null;
}

export function readShell(script: string): ShellReading {
  const found: Gathered = { commands: [], reads: [], writes: [], dynamic: false, moves: false, parse_error: null };
  readInto(script, found, 0);
  return found;
}

function readInto(script: string, found: Gathered, depth: number): void {
  if (script.length > maxScriptBytes || depth > maxScriptDepth)
    found.parse_error ??= "the script is too long or too deep to judge";
  else if (/[\p{Cc}--[\t\n]]/v.test(script)) found.parse_error ??= "the script has a control character";
  else {
    // A line joined in the middle of a word: seen to be read otherwise by the parser than by bash.
    if (/\S\\\n/.test(script)) found.dynamic = true;
    gather(parse(script), found, depth);
  }
}

function gather(node: SyntaxNode, found: Gathered, depth: number): void {
  if (found.parse_error !== null) return;
  switch (node.type) {
    case "Script":
      if ("errors" in node && node.errors?.[0] !== undefined) found.parse_error = node.errors[0].message;
      break;
    case "Command":
      takeCommand(node, found, depth);
      break;
    case "Redirect":
    case "HereString":
    case "HereDoc":
      takeRedirect(node, found);
      break;
    // These give names a new meaning, or variables a value, before a later command runs.
    case "Function":
    case "Coproc":
    case "For":
    case "Select":
    case "ArithmeticFor":
    case "ArithmeticCommand":
      found.dynamic = true;
      break;
    case "Assignment":
      if (!isStaticAssignment(node)) found.dynamic = true;
      break;
    case "Word":
      if (!isStatic(node)) found.dynamic = true;
      break;
  }
  forEachChild(node, (child) => gather(child, found, depth));
}

function takeCommand(node: Command, found: Gathered, depth: number): void {
  if (found.commands.length >= maxCommands) {
    found.parse_error = `the script has more than ${maxCommands} commands`;
    return;
  }
  const words = [...(node.name === undefined ? [] : [node.name]), ...node.args];
  const argv = words.map((word) => (word.type === "Word" ? word.value : assignmentText(word)));
  const inner = unwrap(argv);
  const dynamic =
    inner.opaque || words.some((word) => !(word.type === "Word" ? isStatic(word) : isStaticAssignment(word)));
  const assignments = node.prefix.flatMap((part) => (part.type === "Assignment" ? [part.name] : []));
  found.commands.push({ argv, runs: inner.layers, assignments, dynamic });
  if (dynamic) found.dynamic = true;
  if (inner.layers.some((layer) => /^(?:cd|pushd|popd)$/.test(layer[0] ?? ""))) found.moves = true;
  for (const script of inner.scripts) readInto(script, found, depth + 1);
}

/** A here-document is inline; only its expansions, gathered as children, can surprise. */
function takeRedirect(node: Redirection, found: Gathered): void {
  if (node.type !== "Redirect") {
    if (node.type === "HereDoc" && node.body.parts?.some((part) => !isStaticPart(part)) === true) found.dynamic = true;
    return;
  }
  const target = node.target;
  if (target === undefined || !isStatic(target)) {
    found.dynamic = true;
    return;
  }
  const duplicates = node.operator === "<&" || node.operator === ">&";
  if (duplicates && /^(?:\d+-?|-)$/.test(target.value)) return;
  if (harmlessTargets.includes(target.value)) return;
  if (node.operator !== "<" && node.operator !== "<&") found.writes.push(target.value);
  if (node.operator === "<" || node.operator === "<&" || node.operator === "<>") found.reads.push(target.value);
}
/** Files that keep nothing. */
export const harmlessTargets: readonly string[] = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

function assignmentText(node: Assignment): string {
  const value = node.value.type === "Word" ? node.value.value : node.text;
  return `${node.name}${node.append === true ? "+=" : "="}${value}`;
}
function isStaticAssignment(node: Assignment): boolean {
  return node.index === undefined && node.value.type === "Word" && isStatic(node.value);
}

/** Whether the word is the same whatever the environment and the files: no expansion, glob, brace or tilde. */
function isStatic(word: Word): boolean {
  return !/(?:^|[=:])~/.test(word.text) && (word.parts ?? []).every(isStaticPart);
}
function isStaticPart(part: WordPart): boolean {
  if (part.type === "DoubleQuoted") return part.parts.every(isStaticPart);
  // Other escapes can make a NUL, where the shell cuts the word short, or are read differently by parser and shell.
  if (part.type === "AnsiCQuoted") return /^\$'(?:[^\\]|\\[nrt\\'"])*'$/.test(part.text);
  return part.type === "Literal" || part.type === "SingleQuoted";
}
