/** Preformatted text that may be wider than its place: scrolled by hand and by keyboard alike. */
import type { ReactNode } from "react";

export function Pre({ className, children }: { readonly className?: string; readonly children: ReactNode }) {
  return (
    // Not every browser lets the keyboard into a box that scrolls unless it can be focused.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <pre className={className} tabIndex={0}>
      {children}
    </pre>
  );
}
