/** SHA-256 by the platform's own code: the same hex as the domain's, at a fraction of its time. [ID-6] */
import { hash } from "node:crypto";

/** Of the text's UTF-8, in lower case. */
export function sha256Hex(text: string): string {
  return hash("sha256", text);
}
