/** Every way to change a JSON value in one place: what a hash must not overlook. */

/** Each leaf changed, each element or key taken away, each list lengthened or turned round; never the value itself. */
export function variants(value: unknown): unknown[] {
  if (Array.isArray(value)) return ofList(value);
  if (typeof value === "object" && value !== null) return ofObject(value);
  if (typeof value === "string")
    return [`${value} `, `${value}\u0000`, value === "" ? "x" : value.slice(1), value.toUpperCase(), null].filter(
      (other) => other !== value,
    );
  if (typeof value === "number") return [value + 1, -value - 1, String(value)];
  if (typeof value === "boolean") return [!value];
  return ["", "null", 0];
}

function ofList(list: readonly unknown[]): unknown[] {
  const turned = list.toReversed();
  return [
    [...list, null],
    ...(JSON.stringify(turned) === JSON.stringify(list) ? [] : [turned]),
    ...list.map((_, at) => list.toSpliced(at, 1)),
    ...list.flatMap((each, at) => variants(each).map((other) => list.with(at, other))),
  ];
}
function ofObject(object: object): unknown[] {
  const entries = Object.entries(object);
  return [
    { ...object, more: null },
    ...entries.map(([gone]) => Object.fromEntries(entries.filter(([key]) => key !== gone))),
    ...entries.flatMap(([key, each]) => variants(each).map((other) => ({ ...object, [key]: other }))),
  ];
}
