/** Programs that a step would write if it meant harm. They run inside a sandbox, and outside to show that they work. */

/** Tries to read files and folders, to connect, and to see other processes; prints what it could. */
export function probe(what: { read: readonly string[]; reached: readonly string[]; seen: readonly string[] }): string {
  // Encoded, because the program's own command line is one that it reads.
  const hidden = Buffer.from(JSON.stringify(what)).toString("base64");
  return `import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
const what = JSON.parse(Buffer.from("${hidden}", "base64").toString());
const can = (look) => { try { look(); return true; } catch { return false; } };
const read = what.read.filter((path) => can(() => readFileSync(path)) || can(() => readdirSync(path)));
const reaches = (place) => new Promise((tell) => {
  const [host, port] = place.split(":");
  const socket = connect({ host, port: Number(port), timeout: 2000 });
  const end = (how) => () => { socket.destroy(); tell(how); };
  socket.on("connect", end(true)).on("error", end(false)).on("timeout", end(false));
});
const reached = [];
for (const place of what.reached) if (await reaches(place)) reached.push(place);
const pids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
const lines = pids.map((pid) => { try { return readFileSync("/proc/" + pid + "/cmdline", "utf8"); } catch { return ""; } });
const seen = what.seen.filter((word) => lines.some((line) => line.includes(word)));
console.log(JSON.stringify({ read, reached, seen }));
`;
}

/** Writes into the repository's own folder whatever makes git run a program; each program leaves a mark. */
export function tamper(marks: string): string {
  return `import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from "node:fs";
const mark = (name) => "touch ${marks}/" + name;
appendFileSync(".git/config", [
  "[core]", "fsmonitor = " + mark("fsmonitor") + ";", "sshCommand = " + mark("ssh"), "pager = " + mark("pager"),
  "[filter \\"evil\\"]", "clean = " + mark("filter") + "; cat", "smudge = " + mark("filter") + "; cat", "required = true",
  "[diff \\"evil\\"]", "command = " + mark("diff"), "textconv = " + mark("textconv"),
  "[merge \\"evil\\"]", "driver = " + mark("merge"),
  "[uploadpack]", "packObjectsHook = " + mark("pack"), ""].join("\\n"));
mkdirSync(".git/hooks", { recursive: true });
for (const name of ["pre-commit", "post-checkout", "post-index-change", "reference-transaction", "pre-push", "update"]) {
  writeFileSync(".git/hooks/" + name, "#!/bin/sh\\n" + mark("hook") + "\\n");
  chmodSync(".git/hooks/" + name, 0o755);
}
writeFileSync("src/.gitattributes", "* filter=evil diff=evil merge=evil\\n");
writeFileSync("src/bait.txt", "bait\\n");
console.log("tampered");
`;
}
