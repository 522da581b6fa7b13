/** Medians, percentiles, and rounds that take turns, so that a slow minute of the machine falls on all alike. */

export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1));
  const value = sorted[at];
  if (value === undefined) throw new Error("no samples");
  return value;
}

export function median(samples: readonly number[]): number {
  return (percentile(samples, 0.5) + percentile(samples, 0.5 + 1e-9)) / 2;
}

/** The median of what was seen round by round: two figures of one round met the same machine. */
export function medianRatio(above: readonly number[], below: readonly number[]): number {
  return median(above.map((value, round) => value / (below[round] ?? Number.NaN)));
}

export interface Runner {
  readonly name: string;
  /** One round; answers its figure. */
  run(round: number): Promise<number>;
}

/** Each runner once a round, every other round in the reverse order. One round more goes first and is thrown away. */
export async function takeTurns(
  runners: readonly Runner[],
  rounds: number,
  say: (line: string) => void,
): Promise<Map<string, number[]>> {
  const seen = new Map<string, number[]>(runners.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    say(round === 0 ? "a first round, thrown away" : `round ${round} of ${rounds}`);
    for (const runner of round % 2 === 0 ? runners : runners.toReversed()) {
      const figure = await runner.run(round);
      if (round > 0) seen.get(runner.name)?.push(figure);
    }
  }
  return seen;
}
