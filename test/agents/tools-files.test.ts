import { describe, expect, it } from "vitest";
import { searchScript } from "../../src/agents/tools/search.ts";
import { writeScript } from "../../src/agents/tools/writing.ts";
import { limits } from "../../src/limits.ts";
import { box, opened, says } from "../fakes/toolboxes.ts";

describe("files", () => {
  it("[TOOL-6] a file is read with its line numbers, a window at a time, and what is left out is said", async () => {
    const w = await opened();
    expect(await w.text("file_read", { path: "src/a.txt" })).toBe(
      "src/a.txt, lines 1 to 3 of 3:\n1\tone\n2\ttwo\n3\tthree",
    );
    expect(await w.text("file_read", { path: "src/a.txt", start_line: 2, max_lines: 1 })).toBe(
      "src/a.txt, lines 2 to 2 of 3:\n2\ttwo\n[... 1 lines more: start_line 3 goes on ...]",
    );
    expect(await w.text("file_read", { path: "src/a.txt", start_line: 9 })).toMatch(/^error: .*only 3 lines/);
    expect(await w.text("file_read", { path: "empty.txt" })).toBe("empty.txt is empty.");
    const long = Array.from({ length: 1_000 }, (_, at) => `line ${at}`).join("\n");
    await w.memory.write(box, "long.txt", new TextEncoder().encode(`${long}\n${"x".repeat(5_000)}`));
    expect(await w.text("file_read", { path: "long.txt" })).toMatch(
      /\n\[\.\.\. 601 lines more: start_line 401 goes on/,
    );
    expect(await w.text("file_read", { path: "long.txt", start_line: 1_001 })).toMatch(
      /4500 characters more in this line/,
    );
    await w.memory.write(box, "wide.txt", new TextEncoder().encode(`${"y".repeat(490)}\n`.repeat(400)));
    const wide = await w.text("file_read", { path: "wide.txt" });
    expect(wide.length).toBeLessThan(limits.tool_read_chars + 1_000);
    expect(wide).toMatch(/lines more: start_line \d+ goes on/);
  });
  it("[TOOL-6] what is no text is not shown, and a path that leads nowhere is answered with what is there", async () => {
    const w = await opened();
    for (const bytes of [
      [0x89, 0x50, 0xff],
      [0x61, 0],
    ]) {
      await w.memory.write(box, "odd.bin", Uint8Array.from(bytes));
      expect(await w.text("file_read", { path: "odd.bin" })).toMatch(/^error: .*binary file of \d bytes/);
    }
    expect(await w.text("file_read", { path: "src/b.txt" })).toMatch(/^error: .*In src there are: a.txt, twice.txt/);
    expect(await w.text("file_read", { path: "lib/x/b.txt" })).toMatch(/^error: .*no folder lib\/x either/);
  });
  it("[TOOL-7] a file is written by one command: its path is an argument, its content the input", async () => {
    const w = await opened();
    const path = "src/$(touch x); 'q'.txt";
    expect(await w.text("file_write", { path, content: "a\nb\n" })).toBe(`Created ${path}: 2 lines.`);
    expect(await w.text("file_write", { path, content: "a" })).toBe(`Replaced ${path}: 1 line.`);
    const [first] = w.asked.filter(({ method }) => method === "exec");
    expect(first?.args[2]).toMatchObject({
      argv: ["sh", "-c", writeScript, "sh", path],
      stdin: "a\nb\n",
      timeout_ms: limits.tool_timeout_ms,
    });
    const odd = await opened({ [writeScript]: says("it is a folder\n", 3) });
    expect(await odd.text("file_write", { path: "src", content: "" })).toMatch(
      /^error: src was not written.*it is a folder/,
    );
  });
  it("[TOOL-8] an edit replaces a text that stands in the file exactly once, or everywhere if told to", async () => {
    const w = await opened();
    expect(await w.text("file_edit", { path: "src/a.txt", old_text: "two", new_text: "$& 2" })).toMatch(/^Edited/);
    expect(await w.content("src/a.txt")).toBe("one\n$& 2\nthree\n");
    const same = { path: "src/twice.txt", old_text: "same", new_text: "new" };
    expect(await w.text("file_edit", same)).toMatch(/^error: .*found 2 times, in lines 1, 3/);
    expect(await w.content("src/twice.txt")).toBe("same\nother\nsame\n");
    expect(await w.text("file_edit", { ...same, replace_all: true })).toMatch(/^Edited .* in all places/);
    expect(await w.content("src/twice.txt")).toBe("new\nother\nnew\n");
    expect(await w.text("file_edit", { path: "dos.txt", old_text: "one\ntwo", new_text: "1\n2" })).toMatch(/^Edited/);
    expect(await w.content("dos.txt")).toBe("1\r\n2\r\n");
  });
  it("[TOOL-8] an edit that does not fit changes nothing and shows the lines that come near", async () => {
    const w = await opened();
    const edit = (old_text: string, path = "src/a.txt") => w.text("file_edit", { path, old_text, new_text: "x" });
    expect(await edit("  two\nthree")).toMatch(/^error: .*found 0 times.*\n1\tone\n2\ttwo\n3\tthree/s);
    expect(await edit("nothing alike")).toMatch(/^error: .*found 0 times, and nothing like it/);
    expect(await edit("x", "src/a.txt")).toMatch(/^error: .*same/);
    expect(await edit("y", "none.txt")).toMatch(/^error: .*In \. there are/);
    expect(w.memory.begun).toEqual([]);
    expect(w.bus.settled.every(({ outcome }) => outcome.state === "exited" && outcome.exit_code === 1)).toBe(true);
  });
  it("[TOOL-9] a folder is listed, folders first, and no further than anybody reads", async () => {
    const w = await opened();
    expect(await w.text("list_directory", { path: "." })).toBe("src/\nREADME.md (6)\ndos.txt (10)\nempty.txt (0)");
    for (let at = 0; at < limits.tool_entries + 5; at++) await w.memory.write(box, `many/${at}`, new Uint8Array());
    const many = (await w.text("list_directory", { path: "many" })).split("\n");
    expect([many.length, many.at(-1)]).toEqual([limits.tool_entries + 1, expect.stringContaining("5 entries more")]);
    await w.memory.write(box, "odd/a\nb", new Uint8Array());
    expect(await w.text("list_directory", { path: "odd" })).toBe('"a\\nb" (0)');
    expect(await w.text("list_directory", { path: "none" })).toMatch(/^error: .*In \. there are: /);
  });
  it("[TOOL-10] a search takes its pattern as a pattern and nothing else, and says when there is more", async () => {
    let lines = 3;
    let exit = 0;
    const w = await opened({
      [searchScript]: (process) => {
        for (let at = 1; at <= lines; at++) process.print(`./a.ts:${at}:${process.argv.slice(4).join("|")}\n`);
        return exit;
      },
    });
    const found = await w.text("search_files", { pattern: "-e x", include: "*.ts", ignore_case: true });
    expect(found.split("\n")[0]).toBe(`a.ts:1:-e x|.|${limits.tool_matches + 1}|-i|--include=*.ts`);
    lines = limits.tool_matches + 1;
    exit = 141;
    const many = (await w.text("search_files", { pattern: "x" })).split("\n");
    expect([many.length, many.at(-1)]).toEqual([limits.tool_matches + 1, expect.stringContaining("more lines match")]);
    [lines, exit] = [0, 1];
    expect(await w.text("search_files", { pattern: "x" })).toMatch(/^Nothing in \. matches x/);
    const bad = await opened({ [searchScript]: says("grep: Unmatched ( or \\(\n", 2) });
    expect(await bad.text("search_files", { pattern: "(" })).toMatch(/^error: grep said: grep: Unmatched/);
  });
});
