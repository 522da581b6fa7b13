/**
 * HTML in a GitHub text: which tags a page draws, and which elements hold what it never writes out. A name that HTML
 * does not know does nothing: GitHub drops the tag and shows what it holds. [GHI-40] [GHI-44]
 */

/** Tags a page draws. Their names say nothing; any other's may, and is not drawn. */
export const drawn: ReadonlySet<string> = new Set(
  "a b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins kbd li ol p picture pre q s samp source span strike strong sub summary sup table tbody td tfoot th thead tr tt ul var".split(
    " ",
  ),
);
/**
 * Of all elements that HTML has, or ever had, those whose content a page does not write out, or not surely: GitHub takes
 * it away with them, a browser keeps it for when it is of use, or it is not read as words.
 */
export const unread: ReadonlySet<string> = new Set(
  "applet audio button canvas command content datalist dialog element fencedframe frame frameset head iframe isindex math meter noembed noframes noscript object optgroup option plaintext portal progress rp script select selectedcontent shadow style svg template textarea title video xmp".split(
    " ",
  ),
);

/** Names of languages, of which a fence may say one: they instruct nobody. */
export const languages: ReadonlySet<string> = new Set(
  "bash bat c c# c++ clj cmake console cpp cs csharp css csv dart diff docker dockerfile elixir erlang f# fish fsharp go golang gradle graphql groovy h haskell hcl hpp html http ini java javascript jinja js json json5 jsonc jsonl jsx julia kotlin kt latex less lua make makefile markdown md mdx nix objc ocaml patch perl php plaintext powershell prisma properties proto ps1 py python r rb regex rs ruby rust sass scala scss sh shell shell-session sol sql svelte svg swift terraform text tf toml ts tsx txt typescript vb vim vue wasm xml yaml yml zig zsh".split(
    " ",
  ),
);
/** Languages that a page draws as a picture: their words are not read there. */
export const pictured: ReadonlySet<string> = new Set("mermaid geojson topojson stl math".split(" "));

/** Words, the next line of the same paragraph, or a tag: none of it can be code, an escape or a link's address. */
const plain =
  /[^<`\\$~[\]\n]+|\n {0,3}(?=[\p{L}<"'(])|<(\/?)([A-Za-z][A-Za-z0-9-]*)(?![A-Za-z0-9-])((?:[^"'<>`\n]|"[^"<>`\n]*"|'[^'<>`\n]*')*)>/uy;

/** Where an element ends that begins at `from`, behind its tag; null where that is not certain. */
export function endOf(text: string, from: number, name: string): number | null {
  const own = name.toLowerCase();
  plain.lastIndex = from;
  for (let depth = 1; ; ) {
    const found = plain.exec(text);
    if (found === null) return null;
    const [, slash, tag, rest = ""] = found;
    if (tag?.toLowerCase() !== own) continue;
    if (slash === "") depth++;
    else if (rest.trim() !== "") return null;
    else if (--depth === 0) return plain.lastIndex;
  }
}
