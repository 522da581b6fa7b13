/**
 * GitHub's own OpenAPI description, of it only the operations that are used here: what a request may be, what an answer
 * must be, and GitHub's own examples. Read lazily, once a process: it is 13 MB.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";

type Json = Record<string, unknown>;
export interface Request {
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Undefined when there was none. */
  readonly body: unknown;
}
export interface Operation {
  /** `GET /repos/{owner}/{repo}` */
  readonly name: string;
  /** What is wrong with the request by the description. */
  refusals(request: Request): string[];
  /** What is wrong with the answer by the description. */
  lies(status: number, body: unknown): string[];
}
export interface Description {
  find(method: string, path: string): { operation: Operation; parameters: Record<string, string> } | null;
  /** A copy of GitHub's own example of that name. */
  example(name: string): Json;
}

let read: Promise<Description> | undefined;
export function description(used: readonly string[]): Promise<Description> {
  read ??= load(used);
  return read;
}

async function load(used: readonly string[]): Promise<Description> {
  const file = createRequire(import.meta.url).resolve("@octokit/openapi/generated/api.github.com.json");
  const whole: Json = JSON.parse(await readFile(file, "utf8"));
  const ajv = new Ajv({ strict: false, allErrors: true, inlineRefs: false, formats });
  const schemas = new Map<string, unknown>();
  const operations = used.map((name) => operationOf(name, whole, ajv, schemas));
  // What they refer to is known only now that all are read.
  ajv.addSchema({ $id: "github", schemas: Object.fromEntries(schemas) });
  const examples = at(whole, "components", "examples");
  return {
    find: (method, path) => {
      for (const { operation, pattern } of operations) {
        const found = operation.name.startsWith(`${method} `) ? pattern.exec(path) : null;
        if (found === null) continue;
        const given = Object.entries(found.groups ?? {}).map(([key, value]) => [key, decoded(value)]);
        return { operation, parameters: Object.fromEntries(given) };
      }
      return null;
    },
    example: (name) => structuredClone(at(at(examples, name), "value")),
  };
}

interface Read {
  readonly operation: Operation;
  readonly pattern: RegExp;
}
function operationOf(name: string, whole: Json, ajv: Ajv, schemas: Map<string, unknown>): Read {
  const [method = "", template = ""] = name.split(" ");
  const own = at(whole, "paths", template, method.toLowerCase());
  const convert = (schema: unknown): unknown => converted(schema, whole, schemas);
  const compiled = (schema: unknown): (() => ValidateFunction) => {
    const ready = convert(schema);
    let check: ValidateFunction | undefined;
    return () => {
      check ??= ajv.compile(ready as Json);
      return check;
    };
  };
  const parameters = list(own.parameters).map((one) => {
    const { name, in: place, required, schema } = resolved(one, whole);
    const type = String((schema as Json | undefined)?.type ?? "string");
    return { name: String(name), place, required: required === true, type, check: compiled(schema) };
  });
  const body = own.requestBody === undefined ? null : resolved(own.requestBody, whole);
  const bodySchema = body === null ? null : at(body, "content", "application/json", "schema");
  const checkBody = bodySchema === null ? null : compiled(closed(convert(bodySchema)));
  const answers = new Map(
    Object.entries(at(own, "responses")).map(([status, one]) => {
      const content = (resolved(one, whole).content as Json | undefined)?.["application/json"] as Json | undefined;
      return [Number(status), content?.schema === undefined ? null : compiled(content.schema)] as const;
    }),
  );
  const operation: Operation = {
    name,
    refusals: ({ path, query, body: sent }) => {
      const known = new Set(parameters.flatMap(({ name, place }) => (place === "query" ? [name] : [])));
      const unknown = [...query.keys()].filter((key) => !known.has(key)).map((key) => `unknown parameter ${key}`);
      const wrong = parameters.flatMap(({ name, place, required, type, check }) => {
        const given = place === "path" ? path[name] : place === "query" ? (query.get(name) ?? undefined) : undefined;
        if (given === undefined) return required ? [`parameter ${name} is missing`] : [];
        return errors(`parameter ${name}`, check(), typed(given, type));
      });
      const missing = body?.required === true && sent === undefined ? ["the body is missing"] : [];
      const wrongBody =
        sent === undefined ? [] : checkBody === null ? ["it takes no body"] : errors("body", checkBody(), sent);
      return [...unknown, ...wrong, ...missing, ...wrongBody];
    },
    lies: (status, answer) => {
      const check = answers.get(status);
      if (check === undefined) return status < 300 ? [`${status} is no answer of it`] : [];
      return check === null ? [] : errors(`answer ${status}`, check(), answer);
    },
  };
  const pattern = new RegExp(`^${template.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
  return { operation, pattern };
}

function errors(what: string, check: ValidateFunction, value: unknown): string[] {
  if (check(value)) return [];
  return (check.errors ?? []).map(
    ({ instancePath, message, params }: ErrorObject) => `${what}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
/** A parameter's text as the type it must have, if it has it. */
function typed(text: string, type: string): unknown {
  if (type === "integer" && /^-?\d+$/.test(text)) return Number(text);
  return type === "boolean" && /^(true|false)$/.test(text) ? text === "true" : text;
}

/** OpenAPI 3.0 as JSON Schema: `nullable` becomes a choice, and references lead into the one schema of all that are used. */
function converted(schema: unknown, whole: Json, schemas: Map<string, unknown>): unknown {
  if (Array.isArray(schema)) return schema.map((one) => converted(one, whole, schemas));
  if (typeof schema !== "object" || schema === null) return schema;
  const { nullable, example: _example, examples: _examples, ...rest } = schema as Json;
  if (typeof rest.$ref === "string") {
    const name = rest.$ref.slice(rest.$ref.lastIndexOf("/") + 1);
    if (!schemas.has(name)) {
      schemas.set(name, true);
      schemas.set(name, converted(at(whole, "components", "schemas", name), whole, schemas));
    }
    return { $ref: `github#/schemas/${name}` };
  }
  const inner = Object.fromEntries(Object.entries(rest).map(([key, one]) => [key, converted(one, whole, schemas)]));
  return nullable === true ? { anyOf: [{ type: "null" }, inner] } : inner;
}
/** What GitHub does not know it ignores; here it is a mistake. */
function closed(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null || !("properties" in schema)) return schema;
  const properties = Object.entries(schema.properties as Json).map(([key, one]) => [key, closed(one)]);
  return { additionalProperties: false, ...schema, properties: Object.fromEntries(properties) };
}

function resolved(one: unknown, whole: Json): Json {
  const { $ref } = one as Json;
  return typeof $ref === "string" ? at(whole, ...$ref.slice(2).split("/")) : (one as Json);
}
/** The description is GitHub's own and stands by its version: what is looked for there is there. */
function at(from: unknown, ...path: readonly string[]): Json {
  return path.reduce((object, key) => {
    const next = (object as Json)[key];
    if (next === undefined) throw new Error(`GitHub's description has no ${path.join(" / ")}`);
    return next as Json;
  }, from as Json);
}
function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const formats = {
  "date-time": (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text),
  date: true,
  uri: (text: string) => URL.canParse(text.replaceAll(/\{[^}]*\}/g, "")),
  email: true,
  int32: true,
  int64: true,
  "uri-template": true,
  "repo.nwo": true,
} as const;
