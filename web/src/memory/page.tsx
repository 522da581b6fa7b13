/** Memory: what this scope remembers, found by words; an admin has one forgotten. [WEB-85] [WEB-86] */
import { useInfiniteQuery } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import { type MemoryKind, type MemorySearch, type MemoryView, memories } from "../api/minds.ts";
import { Link } from "../route.tsx";
import { useMay } from "../session.ts";
import { Empty, Failure, Loading } from "../ui/notice.tsx";
import { useShortcuts } from "../ui/shortcuts.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago } from "../ui/time.tsx";
import { taintWords } from "../ui/words.ts";
import { Forget } from "./forget.tsx";

const kinds: Readonly<Record<MemoryKind, string>> = {
  plan: "Plan",
  decision: "Decision",
  discovery: "Discovery",
  gotcha: "Gotcha",
  pattern: "Pattern",
};
const all: MemorySearch = { words: "", kind: "" };

export function MemoryPage() {
  const [search, setSearch] = useState(all);
  const found = useInfiniteQuery(memories(search));
  const items = found.data?.pages.flatMap((page) => page.items);
  return (
    <div className="narrow memory">
      <div className="page-head">
        <h1>Memory</h1>
      </div>
      <p className="quiet">
        Approved plans, decisions with their comments, and what agents found out. Later work is told what fits it.
      </p>
      <Search search={search} onSearch={setSearch} />
      {items === undefined && found.error === null && <Loading what="memories" />}
      {items === undefined && found.error !== null && (
        <Failure error={found.error} again={() => void found.refetch()} />
      )}
      {items?.length === 0 && <Nothing search={search} onAll={() => setSearch(all)} />}
      <ul className="memories" aria-label="Memories">
        {items?.map((item) => (
          <Memory item={item} key={item.id} />
        ))}
      </ul>
      {found.hasNextPage && (
        <button type="button" className="plain" disabled={found.isFetching} onClick={() => void found.fetchNextPage()}>
          {search.words === "" ? "Older ones" : "More that fit less"}
        </button>
      )}
    </div>
  );
}

function Search({
  search,
  onSearch,
}: {
  readonly search: MemorySearch;
  readonly onSearch: (to: MemorySearch) => void;
}) {
  const [words, setWords] = useState(search.words);
  const field = useRef<HTMLInputElement>(null);
  useShortcuts({ "/": () => field.current?.focus() });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSearch({ ...search, words: words.trim() });
  };
  return (
    <search>
      <form className="memory-search" onSubmit={submit}>
        <label>
          Words
          <input
            type="search"
            ref={field}
            maxLength={500}
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
        </label>
        <label>
          Kind
          <select
            value={search.kind}
            onChange={(event) =>
              // The options are the kinds, and none.
              onSearch({ words: words.trim(), kind: event.target.value as MemorySearch["kind"] })
            }
          >
            <option value="">All</option>
            {Object.entries(kinds).map(([kind, word]) => (
              <option value={kind} key={kind}>
                {word}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" className="ink">
          Search
        </button>
      </form>
    </search>
  );
}

function Nothing({ search, onAll }: { readonly search: MemorySearch; readonly onAll: () => void }) {
  if (search.words === "" && search.kind === "")
    return (
      <Empty title="Nothing is remembered yet">
        <p>
          The first plan that is approved will be. Plans wait in <Link to="/review">Review</Link>.
        </p>
      </Empty>
    );
  return (
    <Empty title="Nothing fits">
      <p>Memories are found by their words, not by their meaning. Try other or fewer words.</p>
      <button type="button" className="plain" onClick={onAll}>
        Show all
      </button>
    </Empty>
  );
}

function Memory({ item }: { readonly item: MemoryView }) {
  const [whole, setWhole] = useState(false);
  const mayForget = useMay("admin");
  const taint = taintWords[item.taint];
  if (item.forgotten)
    return (
      <li className="memory-row">
        <p className="quiet">
          Forgotten {kinds[item.kind].toLowerCase()}, <Ago at={item.at} />
        </p>
      </li>
    );
  const cut = item.text !== item.excerpt;
  return (
    <li className="memory-row">
      <h2>
        <Shown text={item.title} line />
      </h2>
      <p className="quiet">
        {kinds[item.kind]} · <Ago at={item.at} /> ·{" "}
        <span className={taint.trusted ? undefined : "untrusted"} title={taint.means}>
          words of: {taint.word}
        </span>
        {item.task_id !== null && (
          <>
            {" · "}
            <Link to={`/tasks/${encodeURIComponent(item.task_id)}`}>its task</Link>
          </>
        )}
      </p>
      <p className="kept">
        <Shown text={whole ? item.text : item.excerpt} />
      </p>
      <div className="choices">
        {cut && (
          <button type="button" className="small plain" aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {whole ? "Show less" : "Show all of it"}
          </button>
        )}
        {mayForget && <Forget id={item.id} />}
      </div>
    </li>
  );
}
