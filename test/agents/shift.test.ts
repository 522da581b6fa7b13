/** One shift of work at a time, and the alarm that stands by, over a storage that only has an alarm. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Shift } from "../../durable-objects/agent/shift.ts";

const started = Date.UTC(2026, 0, 1);
const minutes = (count: number) => count * 60_000;

/** Everything that happened, in its order, and a shift whose work ends when the test says so. */
function made(stands: number | null = null, due: () => number | null = () => null) {
  const seen: string[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const alarms = {
    stands,
    refuses: false,
    getAlarm: async () => alarms.stands,
    sync: async () => void seen.push("sync"),
    async setAlarm(at: number) {
      if (alarms.refuses) throw new Error("the disk is full");
      seen.push(`alarm +${at - Date.now()}`);
      alarms.stands = at;
    },
  };
  const shift = new Shift(alarms, {
    name: () => "planner",
    work: () => {
      seen.push("work");
      return new Promise((resolve, reject) => ends.push((error) => (error === undefined ? resolve() : reject(error))));
    },
    nextDueAt: due,
  });
  return { shift, alarms, seen, ends };
}
const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers({ now: started }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("an alarm that stands by", () => {
  it("[AGO-8] work begins in the call, then what was committed goes to disk, then the alarm is set, then it is answered", async () => {
    const { shift, seen } = made();
    const answer = shift.begin(Date.now());
    expect(seen).toEqual(["work"]);
    await answer;
    expect(seen).toEqual(["work", "sync", "alarm +1000"]);
  });
  it("[AGO-8] one that rings soon enough stays as it is; one that is later, or should have rung, is moved", async () => {
    for (const [stands, moved] of [
      [started + 400, []],
      [started + 1_000, []],
      [started + 9_000, ["sync", "alarm +1000"]],
      [started - 1, ["sync", "alarm +1000"]],
    ] as const) {
      const { shift, seen } = made(stands);
      await shift.begin(Date.now());
      expect(seen).toEqual(["work", ...moved]);
    }
  });
  it("[AGO-8] work that is over before the alarm was moved needs none, but what it leaves has its alarm before the answer", async () => {
    for (const due of [null, started + 10_000]) {
      const { shift, seen, ends } = made(null, () => due);
      const answer = shift.begin(Date.now());
      ends[0]?.();
      await answer;
      expect(seen.filter((what) => what.startsWith("alarm"))).toEqual(due === null ? [] : ["alarm +10000"]);
    }
  });
  it("[AGO-8] an alarm that could not be set is told to whoever brought the work, each of them", async () => {
    const { shift, alarms } = made();
    alarms.refuses = true;
    const answers = await Promise.allSettled([shift.begin(Date.now()), shift.begin(Date.now())]);
    expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });
  it("[AGO-8] after a shift the alarm is set for what is due, and never later than it stands", async () => {
    const { shift, seen, ends, alarms } = made(null, () => Date.now() + 10_000);
    await shift.begin(Date.now());
    ends[0]?.();
    await settle();
    expect(seen).toEqual(["work", "sync", "alarm +1000"]);
    await vi.advanceTimersByTimeAsync(1_000);
    alarms.stands = null;
    void shift.alarm(Date.now());
    ends[1]?.();
    await settle();
    expect(seen.slice(3)).toEqual(["work", "alarm +10000"]);
  });
});

describe("one shift at a time", () => {
  it("[AGO-9] what comes while one is on, calls and alarms alike, joins it; the alarm ends with it", async () => {
    const { shift, seen, ends } = made();
    await Promise.all([shift.begin(Date.now()), shift.begin(Date.now())]);
    let rung = false;
    const alarm = shift.alarm(Date.now()).then(() => {
      rung = true;
    });
    await shift.begin(Date.now());
    await settle();
    expect({ work: seen.filter((what) => what === "work").length, rung }).toEqual({ work: 1, rung: false });
    ends[0]?.();
    await alarm;
    expect(shift.isOn(Date.now())).toBe(false);
    await shift.begin(Date.now());
    expect(seen.filter((what) => what === "work")).toHaveLength(2);
  });
  it("[AGO-9] while one is on nobody else sets the alarm for later", async () => {
    const { shift, seen } = made(null, () => Date.now() + 10_000);
    const armed = shift.arm(Date.now());
    const begun = shift.begin(Date.now());
    await Promise.all([armed, begun]);
    expect(seen).toEqual(["work", "sync", "alarm +1000"]);
  });
  it("[AGO-9] one that hangs is not believed in for longer than an alarm may take; when it ends after all, the next stays on", async () => {
    const { shift, seen, ends } = made();
    await shift.begin(Date.now());
    await vi.advanceTimersByTimeAsync(minutes(15) - 1);
    expect(shift.isOn(Date.now())).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(shift.isOn(Date.now())).toBe(false);
    await shift.begin(Date.now());
    expect(seen.filter((what) => what === "work")).toHaveLength(2);
    ends[0]?.();
    await settle();
    expect(shift.isOn(Date.now())).toBe(true);
  });
  it("[AGO-9] a bug in its work ends nothing but this shift: it pauses a second, sets the alarm, and nobody hears an error", async () => {
    const { shift, seen, ends, alarms } = made(started + 400, () => Date.now());
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    await shift.begin(Date.now());
    alarms.stands = null;
    ends[0]?.(new Error("a bug"));
    await vi.advanceTimersByTimeAsync(999);
    expect(seen).toEqual(["work"]);
    await vi.advanceTimersByTimeAsync(1);
    expect(seen).toEqual(["work", "alarm +0"]);
    expect(said).toHaveBeenCalledTimes(1);
  });
  it("[AGO-9] an alarm that cannot be set after it is said when a call began it, and thrown to the platform when an alarm did", async () => {
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    for (const from of ["begin", "alarm"] as const) {
      const { shift, ends, alarms } = made(started + 400, () => Date.now() + 1);
      const answer = shift[from](Date.now());
      if (from === "begin") await answer;
      Object.assign(alarms, { refuses: true, stands: null });
      ends[0]?.();
      if (from === "begin") await settle();
      else await expect(answer).rejects.toThrow("full");
    }
    expect(said).toHaveBeenCalledTimes(1);
  });
});
