/** The bounds of a standing approval, one line a bound, as the page and the command line show them. [STA-17] */
import type { Amounts, StandingBounds } from "./standing-shape.ts";

export interface BoundWords {
  readonly what: string;
  readonly is: string;
}

export function boundsInWords(bounds: StandingBounds): BoundWords[] {
  const { environment, budget } = bounds;
  const list = (words: readonly string[], none = "none") => (words.length === 0 ? none : words.join(", "));
  return [
    { what: "For tasks of", is: list(bounds.who) },
    { what: "With the labels", is: list(bounds.labels, "any or none") },
    { what: "In the repositories", is: list(bounds.repos) },
    { what: "Runners", is: list(bounds.runners) },
    { what: "Tools", is: list(bounds.tools) },
    { what: "Paths", is: list(bounds.paths) },
    { what: "Commands", is: list(bounds.commands) },
    { what: "Hosts", is: list(bounds.hosts) },
    { what: "Secrets", is: list(bounds.secrets) },
    { what: "Set-up may run", is: list(environment.setup, "nothing") },
    { what: "Set-up may reach", is: list(environment.hosts, "nothing") },
    { what: "Caches", is: list(environment.cache) },
    { what: "Kept from change", is: list(bounds.protect, "what each plan protects") },
    { what: "Every item is checked by", is: list(bounds.verify) },
    { what: "Has read at most", is: bounds.taint },
    { what: "Budget of a plan", is: amounts(budget.plan) },
    { what: "Budget of 24 hours", is: amounts(budget.day, budget.day.plans) },
    { what: "Ends with", is: "the task's own branch published" },
  ];
}

function amounts({ tokens, usd, minutes }: Amounts, plans: number | null = null): string {
  const stated = [
    ...(plans === null ? [] : [`${plans} plans`]),
    ...(tokens === null ? [] : [`${tokens} tokens`]),
    ...(usd === null ? [] : [`${usd} USD`]),
    ...(minutes === null ? [] : [`${minutes} minutes`]),
  ];
  return stated.length === 0 ? "not bounded" : stated.join(", ");
}
