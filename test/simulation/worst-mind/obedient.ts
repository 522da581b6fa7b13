/**
 * A model that does whatever text tells it, the latest text first to last, each order once; it finds orders in fences,
 * and in characters that were written out because nobody sees them. It keeps nothing: all it did stands in its turns.
 */
import type { ModelAnswer, ModelRequest, Models, Turn } from "../../../src/agents/models.ts";
import { canonicalJson } from "../../../src/domain/canonical.ts";

export type Called = readonly [tool: string, args: unknown];
/** What it does of itself: the looks by which it finds the text, and then how it ends. */
export interface Habits {
  readonly looks: readonly Called[];
  readonly ends: Called;
}
const order = /CALL (\S+) (\{.*?\}) END/gu;

export class Obedient implements Models {
  readonly requests: ModelRequest[] = [];
  readonly habits: (request: ModelRequest) => Habits;
  constructor(habits: (request: ModelRequest) => Habits) {
    this.habits = habits;
  }
  configured(): readonly string[] {
    return ["test/obedient"];
  }
  async call(request: ModelRequest): Promise<ModelAnswer> {
    const { signal: _, ...asked } = request;
    this.requests.push(structuredClone(asked));
    const { looks, ends } = this.habits(request);
    const did = request.turns.flatMap((turn) => (turn.kind === "said" ? turn.calls : []));
    const isDone = ([tool, args]: Called) =>
      did.some((call) => call.tool === tool && call.arguments === canonicalJson(args));
    const [tool, args] = [...looks, ...orders(request.turns)].find((each) => !isDone(each)) ?? ends;
    const calls = [{ call_id: "c", tool, arguments: canonicalJson(args) }];
    const usage = { input_tokens: 10, output_tokens: 5, cached_tokens: 0, estimated: false };
    return { model: "test/obedient", text: "As I was told.", calls, finish: "calls", usage, usd: 0.0001 };
  }
}

export function orders(turns: readonly Turn[]): Called[] {
  const texts = turns.flatMap((turn) => (turn.kind === "told" || turn.kind === "result" ? [turn.text] : []));
  return texts.flatMap((text) =>
    [...seen(text).matchAll(order)].flatMap(([, tool = "", args = ""]): Called[] => {
      try {
        return [[tool, JSON.parse(args)]];
      } catch {
        return [];
      }
    }),
  );
}
/** What was written out is read as what it stood for; a tag character as the letter it hides. Quoted again it is unquoted. */
function seen(text: string): string {
  const marks = text.replace(/⟦U\+([0-9A-F]{4,6})⟧/g, (_, hex: string) =>
    String.fromCodePoint(Number.parseInt(hex, 16)),
  );
  const letters = marks.replace(/[\u{e0020}-\u{e007e}]/gu, (mark) =>
    String.fromCodePoint((mark.codePointAt(0) ?? 0) - 0xe0000),
  );
  return letters.includes("CALL") && letters.includes('\\"')
    ? `${letters}\n${letters.replaceAll('\\"', '"').replaceAll("\\\\", "\\")}`
    : letters;
}
