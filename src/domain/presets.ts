/** Named sets of what an agent may do at all: which tools it is offered, and how the policy's word is taken. [PRE-*] */
export const presets = ["READONLY", "DEFAULT", "STRICT", "PERMISSIVE"] as const;
export type Preset = (typeof presets)[number];
