/** GitHub's door over a fake deployment, and short words for posting to it. */
import { home } from "../fakes/door-ports.ts";
import { signatureOf } from "../fakes/github-door.ts";
import { issue, payload } from "../fakes/github-payloads.ts";
import { world } from "./world.ts";

export function guid(n: number): string {
  return `72d3162e-cc78-11e3-81ab-${n.toString(16).padStart(12, "0")}`;
}

export function door() {
  const all = world();
  const { github } = all.deployment;
  github.everywhere = home;
  let sent = 0;
  const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string | null> = {}) => {
    sent += 1;
    const usual = {
      "x-hub-signature-256": signatureOf(body),
      "x-github-delivery": guid(sent),
      "x-github-event": "issues",
      "content-type": "application/json",
    };
    const kept = Object.entries({ ...usual, ...headers }).filter((pair): pair is [string, string] => pair[1] !== null);
    return all.ask("POST", "/webhooks/github", { raw: body, headers: Object.fromEntries(kept) });
  };
  return { ...all, github, post };
}
export const labeled = JSON.stringify(payload("labeled", { issue: issue(), label: { name: "countersign" } }));
