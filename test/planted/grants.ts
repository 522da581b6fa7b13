/** Small faults in what a grant covers: folders, links, redirects, and what gates take for a name. */
import type { Plant } from "./plants.ts";

const place = { test: "test/domain/grant-place.test.ts" };
const paths = { test: "test/domain/gate-paths.test.ts" };

export const grantPlants: readonly Plant[] = [
  {
    id: "grant-in-any-folder",
    file: "src/domain/grant-place.ts",
    find: 'if (!reading.moves && cwd === ".") return true;',
    replace: "if (!reading.moves) return true;",
    why: "a granted script runs in a folder that the agent filled",
    subset: place,
  },
  {
    id: "grant-git-anywhere",
    file: "src/domain/grant-place.ts",
    find: "command.opaque !== null || command.runs.some(isGit)",
    replace: "command.opaque !== null",
    why: "git runs what a folder configures",
    subset: place,
  },
  {
    id: "grant-writes-after-a-move",
    file: "src/domain/grant-place.ts",
    find: "return !reading.moves || !command.runs.some(writesHere);",
    replace: "return true;",
    why: "a plain word names a protected file after a change of folder",
    subset: place,
  },
  {
    id: "grant-redirect-covered",
    file: "src/domain/grant.ts",
    find: "reading.writes.every((file) => writeGranted(",
    replace: "reading.writes.every((file) => pathGranted(",
    why: "a redirect writes a protected file that a glob only covers",
    subset: place,
  },
  {
    id: "grant-links-up",
    file: "src/domain/grant-place.ts",
    find: "return down && folders",
    replace: "return folders",
    why: "a link leads out of what is granted",
    subset: place,
  },
  {
    id: "grant-any-setting",
    file: "src/domain/grant.ts",
    find: "const plainSettings = /^(?:CI",
    replace: "const plainSettings = /^(?:[a-z]|CI",
    why: "any small name stands before a granted command",
    subset: place,
  },
  {
    id: "gate-by-a-folder-s-name",
    file: "src/domain/gate-paths.ts",
    find: '(glob.endsWith("**") ? [glob] :',
    replace: '(glob !== "" ? [glob] :',
    why: "a gate on a folder's name passes what lies in it",
    subset: paths,
  },
  {
    id: "gate-not-entered-by-cwd",
    file: "src/domain/gate-paths.ts",
    find: 'touch.cwd === "."\n    ? named',
    replace: 'touch.cwd !== ""\n    ? named',
    why: "a call runs in a gated folder unasked",
    subset: paths,
  },
  {
    id: "agents-git-takes-any-folder",
    file: "src/agents/tools/chain.ts",
    find: "env: { ...commandEnvironment, ...spec.env },",
    replace: "env: { ...spec.env },",
    why: "git takes a folder of ordinary files for a repository",
    subset: { test: "test/agents/chain.test.ts" },
  },
  {
    id: "standing-any-program-behind-a-wrapper",
    file: "src/domain/standing-shape.ts",
    find: "else if (runsAnything(command))",
    replace: 'else if (command === "")',
    why: "an approval in advance lets any program run behind sudo",
    subset: { test: "test/domain/standing-hostile.test.ts" },
  },
];
