/** A plan as a document: rendered for reading, its front matter and its exact bytes one press away. [WEB-4] */
import { type ReactNode, useState } from "react";
import { Pre } from "../ui/pre.tsx";
import { Shown } from "../ui/shown.tsx";
import { type Block, type Inline, parseBlocks, splitFrontMatter } from "./parse.ts";

export function PlanDocument({ markdown }: { readonly markdown: string }) {
  const [asSource, setAsSource] = useState(false);
  const { front, body } = splitFrontMatter(markdown);
  return (
    <section className="plan" aria-label="The plan">
      <div className="plan-bar">
        <h2>The plan</h2>
        <button type="button" className="small plain" aria-pressed={asSource} onClick={() => setAsSource(!asSource)}>
          {asSource ? "Show as a document" : "Show exact text"}
        </button>
      </div>
      {asSource ? (
        <Source text={markdown} />
      ) : (
        <>
          <div className="document">{blocks(parseBlocks(body))}</div>
          {front !== null && (
            <details className="front">
              <summary>Front matter, as written</summary>
              <Source text={front} />
            </details>
          )}
        </>
      )}
    </section>
  );
}

/** Text with line numbers, exactly as it stands. */
export function Source({ text }: { readonly text: string }) {
  const lines = text.replace(/\n$/, "").split("\n");
  return (
    <Pre className="source">
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line's identity is its number
        <span className="source-line" data-line={index + 1} key={index}>
          <Shown text={line} />
          {"\n"}
        </span>
      ))}
    </Pre>
  );
}

function blocks(list: readonly Block[]): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: parsed blocks have no identity but their place
  return list.map((block, index) => <BlockView block={block} key={index} />);
}

function BlockView({ block }: { readonly block: Block }): ReactNode {
  switch (block.kind) {
    case "heading":
      return <Heading level={block.level}>{inline(block.children)}</Heading>;
    case "paragraph":
      return <p>{inline(block.children)}</p>;
    case "code":
      return (
        <figure className="code">
          {block.info !== "" && (
            <figcaption>
              <Shown text={block.info} />
            </figcaption>
          )}
          <Pre>
            <code>
              <Shown text={block.text} />
            </code>
          </Pre>
        </figure>
      );
    case "quote":
      return <blockquote>{blocks(block.blocks)}</blockquote>;
    case "rule":
      return <hr />;
    case "list": {
      // biome-ignore lint/suspicious/noArrayIndexKey: parsed items have no identity but their place
      const items = block.items.map((item, index) => <li key={index}>{blocks(item)}</li>);
      return block.ordered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
    }
  }
}

/** The document stands below the card's own h1 and h2, so its first level is h3. */
function Heading({ level, children }: { readonly level: number; readonly children: ReactNode }) {
  if (level === 1) return <h3>{children}</h3>;
  if (level === 2) return <h4>{children}</h4>;
  if (level === 3) return <h5>{children}</h5>;
  return <h6>{children}</h6>;
}

function inline(list: readonly Inline[]): ReactNode {
  return list.map((part, index) => {
    // Parsed parts have no identity but their place.
    const key = `${index}`;
    if (part.kind === "text") return <Shown text={part.text} key={key} />;
    if (part.kind === "strong") return <strong key={key}>{inline(part.children)}</strong>;
    if (part.kind === "em") return <em key={key}>{inline(part.children)}</em>;
    return (
      <code key={key}>
        <Shown text={part.text} />
      </code>
    );
  });
}
