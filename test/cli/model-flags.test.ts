import { describe, expect, it } from "vitest";
import { StartError } from "../../src/dev/files.ts";
import { type ModelFlags, parseFlags, usage } from "../../src/dev/flags.ts";
import { modelLine, modelVars } from "../../src/dev/models.ts";

const local = { url: "http://127.0.0.1:11434/v1", name: "default", keyVariable: null };

describe("--model-url", () => {
  it("[START-36] points every role at one server", () => {
    const parsed = parseFlags(["--model-url", local.url, "--model", "qwen/coder:7b", "--model-key-env", "MY_KEY"]);
    const model = { url: local.url, name: "qwen/coder:7b", keyVariable: "MY_KEY" };
    expect(parsed).toMatchObject({ kind: "start", flags: { model } });
    expect(parseFlags(["--model-url", local.url])).toMatchObject({ flags: { model: local } });
    expect(modelVars(model, { MY_KEY: "own", MODEL_API_KEY: "other", MODEL_PLANNER: "openai/x" })).toEqual({
      MODEL_PROXY: "compatible/qwen/coder:7b",
      MODEL_PLANNER: "compatible/qwen/coder:7b",
      MODEL_EXECUTOR: "compatible/qwen/coder:7b",
      MODEL_BASE_URL: local.url,
      MODEL_API_KEY: "own",
    });
    expect(modelVars(local, { MODEL_API_KEY: "other" }).MODEL_API_KEY).toBe("other");
    expect(modelVars(local, {})).not.toHaveProperty("MODEL_API_KEY");
    for (const flag of ["--model-url", "--model NAME", "--model-key-env", "MODEL_PLANNER"])
      expect(usage).toContain(flag);
  });

  it("[START-37] that leads nowhere safe, or names what is not there, ends the start", () => {
    const why = (fields: Partial<ModelFlags>, env = {}) => {
      try {
        modelVars({ ...local, ...fields }, env);
        return "started";
      } catch (error) {
        return error instanceof StartError ? error.message : error;
      }
    };
    expect(why({ url: "http://models.example/v1" })).toContain("must begin with https://");
    expect(why({ url: "https://me:hush@models.example/v1" })).not.toContain("hush");
    for (const name of ["a,openai/b", "", "a b"]) expect(why({ name }), name).toContain("--model: ");
    expect(why({ keyVariable: "NOT_SET" })).toContain("environment variable NOT_SET");
    const broken = why({}, { MODEL_API_KEY: "hush'\nSANDBOX_SECRET='x" });
    expect(broken).toContain("MODEL_API_KEY cannot be used: a key is of visible ASCII");
    expect(why({}, { MODEL_API_KEY: "hush'x" })).toContain("MODEL_API_KEY holds a quote");
    for (const said of [
      broken,
      why({ keyVariable: "OWN" }, { OWN: "hush hush" }),
      why({}, { MODEL_API_KEY: "hush'x" }),
    ])
      expect(said).not.toContain("hush");
    expect(why({ keyVariable: "OWN" }, { OWN: "hush hush" })).toContain("OWN cannot be used");
    expect(why({ keyVariable: "OWN" }, { OWN: " \n" })).toContain("environment variable OWN");
  });

  it("[START-37] wants its companions beside it, and no key on the command line", () => {
    for (const args of [["--model", "x"], ["--model-key-env", "X"], ["--model-url"]])
      expect(parseFlags(args).kind, args.join(" ")).toBe("usage");
    const pasted = parseFlags(["--model-url", local.url, "--model-key-env", "sk-hush"]);
    expect(pasted.kind).toBe("usage");
    expect(JSON.stringify(pasted)).not.toContain("hush");
  });
});

describe("the environment", () => {
  it("[START-36] gives the lists, and the keys of the providers they name", () => {
    const env = {
      MODEL_PLANNER: "anthropic/a, compatible/b",
      ANTHROPIC_API_KEY: "one",
      OPENAI_API_KEY: "two",
      MODEL_BASE_URL: "http://127.0.0.1:1/v1",
      HOME: "/root",
    };
    const vars = modelVars(null, env);
    expect(vars).toEqual({
      MODEL_PLANNER: env.MODEL_PLANNER,
      ANTHROPIC_API_KEY: "one",
      MODEL_BASE_URL: env.MODEL_BASE_URL,
    });
    expect(modelLine(vars)).toBe("Models: planner anthropic/a, compatible/b (compatible: http://127.0.0.1:1/v1).");
    expect(modelVars(null, { OPENAI_API_KEY: "two" })).toEqual({});
    expect(modelVars(null, { ...env, ANTHROPIC_API_KEY: " one\r\n" })).toEqual(vars);
    expect(modelVars(null, { ...env, ANTHROPIC_API_KEY: " \n" })).not.toHaveProperty("ANTHROPIC_API_KEY");
    expect(() => modelVars(null, { ...env, ANTHROPIC_API_KEY: "one two" })).toThrow("ANTHROPIC_API_KEY cannot be used");
    expect(modelVars(local, { MODEL_API_KEY: " own\n" }).MODEL_API_KEY).toBe("own");
    expect(modelLine({})).toBeNull();
  });
});
