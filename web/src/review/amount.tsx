/** How much a budget card adds. */
import { useState } from "react";

export interface AmountFields {
  readonly tokens: string;
  readonly usd: string;
}
type Name = keyof AmountFields;
const names = ["tokens", "usd"] as const;

export function useAmount() {
  const [value, setValue] = useState<AmountFields>({ tokens: "", usd: "" });
  return { value, set: (name: Name, text: string) => setValue({ ...value, [name]: text }) };
}

/** Only what was filled in; null when nothing was. */
export function amountOf(fields: AmountFields): Partial<Record<Name, number>> | null {
  const amount: Partial<Record<Name, number>> = {};
  for (const name of names) {
    const number = Number(fields[name]);
    if (fields[name].trim() !== "" && Number.isFinite(number) && number > 0) amount[name] = number;
  }
  return Object.keys(amount).length === 0 ? null : amount;
}

const labels: Readonly<Record<Name, string>> = { tokens: "Tokens", usd: "US dollars" };

interface AmountProps {
  readonly amount: ReturnType<typeof useAmount>;
  readonly missing: boolean;
}

export function Amount({ amount, missing }: AmountProps) {
  return (
    <fieldset className="amount">
      <legend>Add</legend>
      {names.map((name) => (
        <label key={name}>
          {labels[name]}
          <input
            type="number"
            min="0"
            step={name === "usd" ? "0.01" : "1"}
            inputMode="decimal"
            value={amount.value[name]}
            onChange={(event) => amount.set(name, event.target.value)}
          />
        </label>
      ))}
      {missing && <p className="quiet">Fill in at least one: adding nothing would change nothing.</p>}
    </fieldset>
  );
}
