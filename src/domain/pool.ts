/** Executor slots shared by every scope of a deployment. Scopes take turns when there are too few. [POOL-*] */
export interface PoolFacts {
  readonly slots: number;
  readonly used: number;
  readonly scope_slots: number;
  readonly used_by_scope: number;
  /** Other scopes that have waited longer than this one. */
  readonly waiting_before: number;
}

/** Whether this scope may take a slot now: never past either cap, and never past those who waited longer. */
export function mayTakeSlot(facts: PoolFacts): boolean {
  if (facts.used_by_scope >= facts.scope_slots) return false;
  return facts.slots - facts.used > facts.waiting_before;
}
