/** The flags of `npm run bench`. Anything else is a usage error. */
import { parseArgs } from "node:util";

export interface BenchFlags {
  /** Empty: all of them. */
  readonly only: readonly string[];
  readonly json: boolean;
  /** Fewer rounds and smaller counts: shows that it runs, not how fast. */
  readonly quick: boolean;
  readonly peers: boolean;
  /** Where the measured files stand: the disk is part of what is measured. */
  readonly dir: string;
}

export const usage = (
  names: readonly string[],
): string => `npm run bench -- [--only NAME]... [--json] [--quick] [--no-peers] [--dir DIR] [--help]

  --only NAME   one group, may be given more than once: ${names.join(", ")}
  --json        one JSON document on stdout; progress stays on stderr
  --quick       few rounds and small counts: to see that it runs, not how fast
  --no-peers    install and measure no other queue
  --dir DIR     folder on the disk to measure (default /var/tmp); what is made there is removed again
  --help        this text`;

export type ParsedFlags =
  | { readonly kind: "run"; readonly flags: BenchFlags }
  | { readonly kind: "help" }
  | { readonly kind: "usage"; readonly problem: string };

export function parseFlags(args: readonly string[], names: readonly string[]): ParsedFlags {
  let values: ReturnType<typeof raw>;
  try {
    values = raw(args);
  } catch (error) {
    return { kind: "usage", problem: error instanceof Error ? error.message : String(error) };
  }
  if (values.help === true) return { kind: "help" };
  const only = values.only ?? [];
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) return { kind: "usage", problem: `there is no group "${unknown}": ${names.join(", ")}` };
  const flags = {
    only,
    json: values.json === true,
    quick: values.quick === true,
    peers: values["no-peers"] !== true,
    dir: values.dir ?? "/var/tmp",
  };
  return { kind: "run", flags };
}

function raw(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: false,
    options: {
      only: { type: "string", multiple: true },
      json: { type: "boolean" },
      quick: { type: "boolean" },
      "no-peers": { type: "boolean" },
      dir: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  }).values;
}
