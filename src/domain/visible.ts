/**
 * Text as a person must see it before they decide: nothing in it can hide, reorder or move other text. Control,
 * bidirectional, invisible and look-alike-space characters are written out as `⟦U+202E⟧`. [CLI-1]
 */

/** What has no mark of its own on a screen, or changes where other marks stand. */
export const hidden =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}\u{1D159}]|[\p{Zs}--[\u{20}\u{3000}]]/gv;

/** For text of several lines: newlines and tabs stay. */
export function visible(text: string): string {
  return text.replace(hidden, (mark) => (mark === "\n" || mark === "\t" ? mark : written(mark)));
}

/** For one line: a newline or tab inside it is written out too, so that a value cannot pose as a line of its own. */
export function visibleLine(text: string): string {
  return text.replace(hidden, written);
}

function written(mark: string): string {
  return `⟦U+${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟧`;
}
