import { describe, expect, it } from "vitest";
import { alternativesTo, renamedArguments, toolUseErrors } from "../../src/domain/tool-names.ts";

const offered = [
  "shell_execute",
  "python_execute",
  "file_read",
  "file_write",
  "file_edit",
  "list_directory",
  "search_files",
  "finish",
];

describe("names of tools learned elsewhere", () => {
  it("[FALL-1] each means the tool of ours that does the same, if it is offered", () => {
    const meant: Record<string, string> = {
      ...{ Bash: "shell_execute", bash: "shell_execute", shell: "shell_execute", shell_exec: "shell_execute" },
      ...{ run_command: "shell_execute", execute_command: "shell_execute", "run-command": "shell_execute" },
      ...{
        read_file: "file_read",
        cat: "file_read",
        write_file: "file_write",
        str_replace: "file_edit",
        edit_file: "file_edit",
      },
      ...{
        ls: "list_directory",
        grep: "search_files",
        find: "search_files",
        python: "python_execute",
        python_exec: "python_execute",
      },
      ...{
        mcp__files__read_file: "file_read",
        "default_api.Grep": "search_files",
        FILE_READ: "file_read",
        fileRead: "file_read",
      },
    };
    for (const [name, tool] of Object.entries(meant))
      expect([name, alternativesTo(name, offered)]).toEqual([name, [tool]]);
    expect(alternativesTo("Bash", ["file_read"])).toEqual([]);
    for (const none of ["", "constructor", "__proto__", "browser_click", "."])
      expect(alternativesTo(none, offered)).toEqual([]);
    expect(alternativesTo("x", ["constructor", "toString"])).toEqual([]);
  });
  it("[FALL-1] arguments are renamed only where the tool's own name is missing and the other is none of its own", () => {
    expect(renamedArguments({ file_path: "a", x: 1 }, ["path"])).toEqual({ path: "a", x: 1 });
    expect(renamedArguments({ path: "a", file_path: "b" }, ["path"])).toBeNull();
    expect(renamedArguments({ search: "a" }, ["pattern", "search"])).toBeNull();
    expect(renamedArguments({ old_string: "a", new_string: "b" }, ["old_text", "new_text"])).toEqual({
      old_text: "a",
      new_text: "b",
    });
    for (const none of [null, "x", [1]]) expect(renamedArguments(none, ["path"])).toBeNull();
    expect(renamedArguments({ y: 1 }, ["constructor"])).toBeNull();
  });
  it("[FALL-5] a word is a tool's name where no such tool is said to be, or where a tool that is offered does the same", () => {
    const toolOf = (words: string) => toolUseErrors(`<tool_use_error>${words}</tool_use_error>`, offered)[0]?.tool;
    for (const words of [
      "InputValidationError: Edit failed due to the following issue:\nThe required parameter `file_path` is missing",
      "Bash failed: the required parameter `command` is missing",
      'String to replace not found in file.\nString: "shell"',
      "The tool you asked for, Write, is not available",
      "Cannot use tool because Edit comes first",
      "The tool call failed: timeout",
      "Invalid tool parameters: path",
      "tool execution error: `command` is empty",
      "File has not been read yet",
      'It printed "hello"',
    ])
      expect([words, toolOf(words)]).toEqual([words, null]);
    for (const [words, tool] of [
      ["No such tool available: Frobnicate", "Frobnicate"],
      ["Unknown tool 'frob.do'", "frob.do"],
      ["The tool `Frob` does not exist", "Frob"],
      ["`Frob` is not a tool", "Frob"],
      ['"Grep" is disabled', "Grep"],
      ["Tool mcp__fs__read_file failed", "mcp__fs__read_file"],
      ["The tool is unavailable: Edit", "Edit"],
    ])
      expect([words, toolOf(words ?? "")]).toEqual([words, tool]);
  });
  it("[FALL-3] errors in tags are read out of any text, cut off or nested, a few at most", () => {
    expect(toolUseErrors("no <b>tags</b>")).toEqual([]);
    expect(toolUseErrors("a <tool_use_error>The tool `Bash` is unknown</tool_use_error> b")).toEqual([
      {
        tool: "Bash",
        message: "The tool `Bash` is unknown",
        raw: "<tool_use_error>The tool `Bash` is unknown</tool_use_error>",
      },
    ]);
    expect(toolUseErrors("<tool_use_error>cut")).toMatchObject([{ tool: null, message: "cut" }]);
    for (const words of [
      "Error: No such tool available: Bash",
      "No such tool available: `Bash`",
      "Tool Bash failed: no such file",
      "There is no tool named 'Bash'",
      "`Bash` is not a tool",
    ])
      expect([words, toolUseErrors(`<tool_use_error>${words}`, offered)[0]?.tool]).toEqual([words, "Bash"]);
    expect(toolUseErrors("<tool_use_error>The tool was not found")).toMatchObject([{ tool: null }]);
    expect(toolUseErrors("<tool_use_error>x</tool_use_error>".repeat(100))).toHaveLength(8);
    expect(toolUseErrors(`<tool_use_error>${"y".repeat(100_000)}`)[0]?.message.length).toBeLessThanOrEqual(2_000);
  });
});
