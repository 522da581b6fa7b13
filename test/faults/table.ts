/**
 * What may go wrong, and where. A row is a thing that happens in the service, a column is the moment the fault meets it.
 * Each cell names the rule whose test proves it, or says in a sentence about the world why there is no such moment.
 */
export const columns = ["before commit", "after commit, before reply", "reply lost", "slow"] as const;
export type Column = (typeof columns)[number];
/** Ids of rules, one or several: `FLT-1` or `DEC-2 DEC-5`; or the reason why the cell cannot be. */
export type Cell = { readonly rule: string } | { readonly reason: string };
export type Row = Readonly<Record<Column, Cell>>;

const by = (rule: string): Cell => ({ rule });
const none = (reason: string): Cell => ({ reason });
const each = (a: Cell, b: Cell, c: Cell, d: Cell): Row => ({
  "before commit": a,
  "after commit, before reply": b,
  "reply lost": c,
  slow: d,
});

export const table = {
  enqueue: each(by("FLT-1 OBJ-2"), by("FLT-1 RTO-2"), by("FLT-1 RTO-2"), by("FLT-1")),
  lease: each(by("FLT-2 OBJ-2"), by("FLT-2 OBJ-4"), by("FLT-2 ENT-1 Q-4"), by("FLT-2")),
  heartbeat: each(by("FLT-3"), by("FLT-3"), by("FLT-3 AGO-6"), by("FLT-3 RCV-7")),
  "inside effect": each(by("FLT-4 OBJ-2 ROW-4"), by("FLT-4 RTO-10"), by("FLT-4 RTO-7"), by("FLT-4")),
  "outside effect": each(by("FLT-5 EFF-3"), by("FLT-5 KILL-2"), by("FLT-5 SIM-33"), by("FLT-5")),
  "mark and ack": each(by("FLT-6 Q-18"), by("FLT-6 Q-2"), by("FLT-6 RTO-1"), by("FLT-6")),
  "nack and dead letter": each(by("FLT-7 AGO-3"), by("FLT-7 DL-12"), by("FLT-7 DL-9"), by("FLT-7")),
  "stale holder": each(by("FLT-8 ENT-5"), by("FLT-8 EFF-6"), by("FLT-8 EFF-6"), by("FLT-8")),
  "outbox flush": each(by("FLT-9 OUT-4"), by("FLT-9 OUT-3"), by("FLT-9 OUT-12"), by("FLT-9")),
  "Queue delivery": each(by("FLT-10 RTO-1"), by("FLT-10 RTO-2"), by("FLT-10 SIM-33"), by("FLT-10 RTO-3")),
  alarm: each(
    by("FLT-11"),
    by("FLT-11 RCV-6"),
    none("An alarm has no caller: nobody waits for a reply that could be lost."),
    by("FLT-11 RCV-5"),
  ),
  "object life": each(by("FLT-12 RCV-6"), by("FLT-12 RTO-10"), by("FLT-12 RTO-8"), by("FLT-12 RCV-3")),
  "full disk": each(by("FLT-13 RCV-9"), by("FLT-13"), by("FLT-13"), by("FLT-13")),
  "D1 down": each(by("FLT-14 RCV-8"), by("FLT-14 REC-1"), by("FLT-14 REC-6"), by("FLT-14 REC-9")),
  "R2 down": each(by("FLT-15 RCV-20"), by("FLT-15"), by("FLT-15"), by("FLT-15 OUT-10")),
  "sandbox death": each(by("FLT-16 EXE-5"), by("FLT-16 EXE-6"), by("FLT-16 EFF-5"), by("FLT-16")),
  "two sandboxes for one attempt": each(by("FLT-17 EXE-9"), by("FLT-17 EFF-8"), by("FLT-17 SBX-1"), by("FLT-17")),
  "late result": each(by("FLT-18 OUTC-2"), by("FLT-18"), by("FLT-18"), by("FLT-18 RTO-3")),
  "approval twice": each(by("FLT-19 DEC-5"), by("FLT-19 DEC-2"), by("FLT-19 KILL-4"), by("FLT-19")),
  "approval late": each(by("FLT-20 DEC-5"), by("FLT-20 DEC-20"), by("FLT-20"), by("FLT-20")),
  "approval for the wrong item": each(by("FLT-21 ENT-15"), by("FLT-21"), by("FLT-21"), by("FLT-21")),
  "approval of changed bytes": each(by("FLT-22 DEC-3 DEC-7"), by("FLT-22 ENT-11 ENT-12"), by("FLT-22"), by("FLT-22")),
  "socket cut at every seq": each(by("FLT-23"), by("FLT-23 EVS-7"), by("FLT-23 HTTP-28"), by("FLT-23")),
  "clock jump": each(by("FLT-24"), by("FLT-24"), by("FLT-24"), by("FLT-24 Q-24")),
  "merge holder dies": each(by("FLT-25 KILL-1"), by("FLT-25 RTO-10"), by("FLT-25 EFF-9 VER-16"), by("FLT-25 MRG-6")),
  "verifier dies": each(by("FLT-26 VER-12"), by("FLT-26 KILL-1"), by("FLT-26 VER-13"), by("FLT-26 MRG-5")),
  "old binary on new data": each(
    by("SQL-2 ROW-5"),
    none("Old code on newer data commits nothing, so no moment comes after its commit."),
    by("FLT-27"),
    by("FLT-27"),
  ),
} as const satisfies Readonly<Record<string, Row>>;
export type RowName = keyof typeof table;
