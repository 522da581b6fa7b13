/** What a session leaves for later ones: found, to be wary of, or done the same way each time. [MEM-*] */
export const insightKinds = ["discovery", "gotcha", "pattern"] as const;
export type InsightKind = (typeof insightKinds)[number];
