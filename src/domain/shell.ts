/**
 * What a shell script would run, read from its syntax: plain commands with their words, the files its
 * redirects touch, and whether anything is only known when it runs. It never guesses: what it cannot
 * read whole it says so. [SH-*]
 */

import type { Assignment, Command, Redirection, SyntaxNode, TestBinaryExpression, Word, WordPart } from "unbash";
import { forEachChild, parse } from "unbash";
import { isLoose } from "./shell-loose.ts";
import type { ShellDialect } from "./shell-peeled.ts";
import { isPlainName } from "./shell-peeled.ts";
import { unwrap } from "./shell-wrappers.ts";

export const maxScriptBytes = 16 * 1024;
export const maxCommands = 200;
export const maxWords = 1_000;
const maxScriptDepth = 4;

export interface ShellCommand {
  /** Words as the program gets them; a word only known at run time stands as it is written. */
  readonly argv: readonly string[];
  /** `argv`, then what each wrapper in it (`sudo`, `env`, `timeout` ...) would run. */
  readonly runs: readonly (readonly string[])[];
  /** Names set before the command, or alone. */
  readonly assignments: readonly string[];
  /** Those that stand before the command, with their values. */
  readonly settings: readonly string[];
  /** Some word or redirect is only known at run time. */
  readonly dynamic: boolean;
  /** Why what it runs cannot be read from its words; null when it can. */
  readonly opaque: string | null;
  /** Words that bring code: a wildcard of a grant never stands for one. */
  readonly code: readonly string[];
  /** The programs inside may get further words when it runs. */
  readonly open: boolean;
  /** Where words stand of a program that only reads, for which the shell puts names or a number of a known shape. */
  readonly loose: ReadonlySet<number>;
}
export interface ShellReading {
  readonly commands: readonly ShellCommand[];
  /** Redirect targets, as written. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Something is only known when it runs, or changes what a later word means. */
  readonly dynamic: boolean;
  /** And not only the loose words of its commands. */
  readonly surprises: boolean;
  /** The script changes its directory, so a relative path in it may lead elsewhere. */
  readonly moves: boolean;
  /** And not only to the root of the workspace. */
  readonly strays: boolean;
  /** Something of it runs on while the next begins, and after the script has ended. */
  readonly background: boolean;
  readonly parse_error: string | null;
}

interface Gathered {
  commands: ShellCommand[];
  reads: string[];
  writes: string[];
  dynamic: boolean;
  moves: boolean;
  strays: boolean;
  background: boolean;
  parse_error: string | null;
  loose: Set<SyntaxNode>;
}

export function readShell(script: string): ShellReading {
  const found: Gathered = {
    ...{ commands: [], reads: [], writes: [], dynamic: false, moves: false, strays: false, background: false },
    ...{ parse_error: null, loose: new Set() },
  };
  readInto(script, found, { depth: 0, dialect: "bash" });
  const { loose, dynamic: surprises, ...reading } = found;
  return { ...reading, surprises, dynamic: surprises || loose.size > 0 };
}

interface Where {
  readonly depth: number;
  readonly dialect: ShellDialect;
}
/** Marks that stand for nothing on a screen, or turn the text around. The one that makes an emoji of a sign is let be. */
const unseen = /[[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\u{FE0F}]]/v;

function readInto(script: string, found: Gathered, where: Where): void {
  if (isTooLong(script) || where.depth > maxScriptDepth)
    found.parse_error ??= "the script is too long or too deep to judge";
  else if (/[\p{Cc}--[\t\n]]/v.test(script)) found.parse_error ??= "the script has a control character";
  else if (!script.isWellFormed()) found.parse_error ??= "the script is not text";
  else {
    // A line joined in the middle of a word: seen to be read otherwise by the parser than by bash.
    if (/\S\\\n/.test(script) || unseen.test(script)) found.dynamic = true;
    gather(parse(script), found, where);
  }
}
function isTooLong(script: string): boolean {
  if (script.length > maxScriptBytes) return true;
  // No character of a string takes more than three bytes.
  return script.length * 3 > maxScriptBytes && new TextEncoder().encode(script).length > maxScriptBytes;
}

function gather(node: SyntaxNode, found: Gathered, where: Where): void {
  if (found.parse_error !== null) return;
  if (where.dialect === "posix" && isBashOnly(node)) found.dynamic = true;
  switch (node.type) {
    case "Script":
      if ("errors" in node && node.errors?.[0] !== undefined) found.parse_error = node.errors[0].message;
      break;
    case "Statement":
      if (node.background === true) found.background = true;
      break;
    case "Command":
      takeCommand(node, found, where);
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
    case "FileDescriptorVariable":
      found.dynamic = true;
      break;
    // A number that no descriptor has is a word.
    case "FileDescriptor":
      if (node.end - node.pos > 3) found.dynamic = true;
      break;
    case "TestBinary":
    case "TestUnary":
      if (evaluates(node)) found.dynamic = true;
      break;
    case "Assignment":
      if (!isStaticAssignment(node) || !isPlainName(node.name)) found.dynamic = true;
      break;
    case "Word":
      if (!isStatic(node) && !found.loose.has(node)) found.dynamic = true;
      break;
  }
  forEachChild(node, (child) => gather(child, found, where));
}

function takeCommand(node: Command, found: Gathered, where: Where): void {
  if (found.commands.length >= maxCommands) {
    found.parse_error = `the script has more than ${maxCommands} commands`;
    return;
  }
  const words = [...(node.name === undefined ? [] : [node.name]), ...node.args];
  if (words.length > maxWords) {
    found.parse_error = `a command has more than ${maxWords} words`;
    return;
  }
  const argv = words.map((word) => (word.type === "Word" ? word.value : assignmentText(word)));
  const inner = unwrap(argv);
  const loose = new Set([...words.keys()].filter((at) => isLoose(argv[0] ?? "", words[at])));
  for (const at of loose) if (words[at] !== undefined) found.loose.add(words[at]);
  const surprises =
    inner.dynamic ||
    !inner.assigned.every(isPlainName) ||
    words.some((word, at) => !loose.has(at) && !(word.type === "Word" ? isStatic(word) : isStaticAssignment(word)));
  const set = node.prefix.flatMap((part) => (part.type === "Assignment" ? [part] : []));
  const settings = set.map(assignmentText);
  const assignments = [...set.map(({ name }) => name), ...inner.assigned];
  const { layers: runs, opaque, code, open } = inner;
  const dynamic = surprises || loose.size > 0;
  found.commands.push({ argv, runs, assignments, settings, dynamic, opaque, code, open, loose });
  if (surprises) found.dynamic = true;
  if (inner.moves) found.moves = true;
  if (inner.strays) found.strays = true;
  for (const { text, dialect } of inner.scripts)
    readInto(text, found, { depth: where.depth + 1, dialect: dialect ?? where.dialect });
}

/** A here-document is inline; only its expansions, gathered as children, can surprise. */
function takeRedirect(node: Redirection, found: Gathered): void {
  if (node.type !== "Redirect") {
    if (node.type !== "HereDoc") return;
    if (!plainEnd.test(node.delimiter?.text ?? "")) found.dynamic = true;
    if (node.body.parts?.some((part) => !isStaticPart(part)) === true) found.dynamic = true;
    return;
  }
  const target = node.target;
  if (target === undefined || !isStatic(target)) {
    found.dynamic = true;
    return;
  }
  if (node.operator === "<&" || node.operator === ">&") {
    if (descriptor.test(target.text)) return;
    // Bash closes at a `-`, and takes what is joined to it for the next word; the name of a file it expands once more.
    if (!expandsToItself.test(target.text)) found.dynamic = true;
  }
  if (harmlessTargets.includes(target.value)) return;
  if (node.operator !== "<" && node.operator !== "<&") found.writes.push(target.value);
  if (node.operator === "<" || node.operator === "<&" || node.operator === "<>") found.reads.push(target.value);
}
/** Shells differ in where any other delimiter ends. */
const plainEnd = /^(?:'[\w .+-]+'|"[\w .+-]+"|\\?[\w.+-]+)$/;
const descriptor = /^(?:\d+-?|-)$/;
const expandsToItself = /^[\w./][\w./+,:@%-]*$/;
/** Files that keep nothing. */
export const harmlessTargets: readonly string[] = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/** What only bash reads so: another shell takes it for other words, or for commands. */
function isBashOnly(node: SyntaxNode): boolean {
  switch (node.type) {
    case "TestCommand":
    case "AnsiCQuoted":
    case "LocaleString":
    case "ArrayValue":
    case "HereString":
    case "Time":
    case "ProcessSubstitution":
      return true;
    // To others two digits are a word, and the redirect has none.
    case "FileDescriptor":
      return node.end - node.pos > 1;
    case "Word":
      return (node.parts ?? []).some((part) => part.type === "AnsiCQuoted");
    case "Assignment":
      return node.append === true || node.index !== undefined;
    case "Redirect":
      return node.operator.startsWith("&") || (node.operator === ">&" && !/^(?:\d+|-)$/.test(node.target?.value ?? ""));
    case "Pipeline":
      return node.operators.includes("|&");
    case "CaseItem":
      return node.terminator === ";&" || node.terminator === ";;&";
    default:
      return false;
  }
}

/** Inside `[[ ]]` numbers and names are evaluated, and an index in them may run a command: `[[ 'a[$(x)]' -eq 0 ]]`. */
function evaluates(node: TestBinaryExpression | Extract<SyntaxNode, { type: "TestUnary" }>): boolean {
  if (node.type === "TestUnary") return node.operator === "-v" || node.operator === "-R";
  if (!/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) return false;
  return ![node.left, node.right].every((word) => /^-?\d+$/.test(word.value));
}

function assignmentText(node: Assignment): string {
  const value = node.value.type === "Word" ? node.value.value : node.text;
  return `${node.name}${node.append === true ? "+=" : "="}${value}`;
}
function isStaticAssignment(node: Assignment): boolean {
  return node.index === undefined && node.value.type === "Word" && isStatic(node.value);
}

/** Whether the word is the same whatever the environment and the files: no expansion, glob, brace or tilde. */
function isStatic(word: Word): boolean {
  return !/(?:^|[=:])~/.test(word.text) && !isMisread(word) && (word.parts ?? []).every(isStaticPart);
}
/**
 * Bare text that bash may read as more than text, although the parser does not: a sign of the shell (`2<(x)` runs x),
 * or a brace that bash closes further on than the parser does (`{a}\{b,c}`).
 */
function isMisread(word: Word): boolean {
  const literal = (part: WordPart) => (part.type === "Literal" ? part.text : " ");
  const bare = (word.parts?.map(literal).join("") ?? word.text).replace(/\\./gs, "").replaceAll(" ", "");
  if (/[<>()|&;`\n]|\$[^$]/.test(bare)) return true;
  if (!bare.includes("{")) return false;
  return /,|\.\./.test(word.text.slice(word.text.indexOf("{"), word.text.lastIndexOf("}") + 1));
}
function isStaticPart(part: WordPart): boolean {
  if (part.type === "DoubleQuoted") return part.parts.every(isStaticPart);
  // Other escapes can make a NUL, where the shell cuts the word short, or are read differently by parser and shell.
  if (part.type === "AnsiCQuoted") return /^\$'(?:[^\\]|\\[nrt\\'"])*'$/.test(part.text);
  return part.type === "Literal" || part.type === "SingleQuoted";
}
