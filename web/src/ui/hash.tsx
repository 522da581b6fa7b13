/** A long identifier: short to read, whole on demand, one press to copy. */
import { useState } from "react";

export function Hash({ value, label }: { readonly value: string; readonly label: string }) {
  const [copied, setCopied] = useState<"no" | "yes" | "failed">("no");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      setCopied("yes");
    } catch {
      setCopied("failed");
    }
  };
  return (
    <details className="hash">
      <summary aria-label={`${label}: ${value.slice(0, 12)}, show all`}>
        <code>{value.slice(0, 12)}</code>
      </summary>
      <code className="hash-full">{value}</code>
      <button type="button" className="small plain" onClick={copy}>
        Copy
      </button>
      <span role="status" className="quiet">
        {copied === "yes" && " Copied"}
        {copied === "failed" && " Select it and copy by hand"}
      </span>
    </details>
  );
}
