/**
 * Text that came from somebody else, shown so that nothing in it can hide: control, invisible and
 * bidirectional characters appear by name, marked as not being the text itself. [WEB-3]
 */
import type { ReactNode } from "react";
import { visible, visibleLine } from "../../../src/domain/visible.ts";

interface ShownProps {
  readonly text: string;
  /** The text is one line by its nature, so a line break in it is written out too. */
  readonly line?: boolean;
}

export function Shown({ text, line = false }: ShownProps): ReactNode {
  const write = line ? visibleLine : visible;
  if (write(text) === text) return text;
  const parts: ReactNode[] = [];
  let plain = "";
  for (const char of text) {
    const written = write(char);
    if (written === char) {
      plain += char;
      continue;
    }
    parts.push(
      plain,
      <span className="escaped" key={parts.length} title="A character that cannot be seen, by its code point">
        {written}
      </span>,
    );
    plain = "";
  }
  return [...parts, plain];
}
