/** Review: what waits for a person, and the card being read. */
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { type ApprovalView, approvalById, pendingApprovals } from "../api/queries.ts";
import { Link, navigate } from "../route.tsx";
import { Empty, Failure, Loading } from "../ui/notice.tsx";
import { useShortcuts } from "../ui/shortcuts.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago, Until } from "../ui/time.tsx";
import { kindWords } from "../ui/words.ts";
import { CardPage } from "./card.tsx";
import { UnknownList } from "./unknown.tsx";

export function ReviewPage({ id }: { readonly id: string | null }) {
  const pending = useQuery(pendingApprovals);
  const items = pending.data?.items ?? [];
  const step = (by: 1 | -1): void => {
    const at = items.findIndex((item) => item.id === id);
    const next = items[at === -1 ? (by === 1 ? 0 : items.length - 1) : at + by];
    if (next !== undefined) navigate(pathOf(next));
  };
  useShortcuts({ j: () => step(1), k: () => step(-1) });

  // On a wide screen an empty right half helps nobody: the oldest card opens by itself.
  const first = items[0];
  useEffect(() => {
    if (id === null && first !== undefined && matchMedia("(min-width: 60rem)").matches)
      navigate(pathOf(first), "replace");
  }, [id, first]);

  // The open card's title is the page's heading while there is one.
  const ListTitle = id === null ? "h1" : "h2";
  return (
    <div className={id === null ? "review" : "review reading"}>
      <section className="review-list" aria-label="Waiting for a decision">
        {id !== null && (
          <Link to="/review" className="back">
            All cards
          </Link>
        )}
        <ListTitle className="list-title">
          Review <span className="count">{pending.data === undefined ? "" : items.length}</span>
        </ListTitle>
        <p>
          <Link to="/standing">Approved in advance</Link>
        </p>
        <UnknownList />
        <List query={pending} items={items} current={id} />
      </section>
      <div className="review-card">
        {id !== null && <OneCard id={id} next={items.find((item) => item.id !== id) ?? null} key={id} />}
      </div>
    </div>
  );
}

function pathOf(approval: ApprovalView): string {
  return `/review/${encodeURIComponent(approval.id)}`;
}

interface ListProps {
  readonly query: { readonly error: unknown; readonly isPending: boolean; readonly refetch: () => unknown };
  readonly items: readonly ApprovalView[];
  readonly current: string | null;
}

function List({ query, items, current }: ListProps) {
  if (query.isPending) return <Loading what="cards" />;
  if (query.error !== null && items.length === 0)
    return <Failure error={query.error} again={() => void query.refetch()} />;
  if (items.length === 0)
    return (
      <Empty title="Nothing waits for you">
        <p>
          A card appears here when a plan, a tool call or a problem needs a decision.{" "}
          <Link to="/tasks/new">Ask for a task</Link> to begin.
        </p>
      </Empty>
    );
  return (
    <ol className="cards">
      {items.map((item) => (
        <li key={item.id}>
          <Link to={pathOf(item)} aria-current={item.id === current ? "true" : undefined}>
            <span className="kind">{kindWords[item.kind]}</span>
            <span className="card-title">
              <Shown text={item.card.title} />
            </span>
            <span className="quiet">
              asked <Ago at={item.requested_at} /> by <Shown text={item.agent_id} />
              {item.expires_at !== null && (
                <>
                  {", expires "}
                  <Until at={item.expires_at} />
                </>
              )}
            </span>
          </Link>
        </li>
      ))}
    </ol>
  );
}

function OneCard({ id, next }: { readonly id: string; readonly next: ApprovalView | null }) {
  const approval = useQuery(approvalById(id));
  if (approval.data !== undefined) return <CardPage approval={approval.data} next={next} />;
  if (approval.error !== null) return <Failure error={approval.error} again={() => void approval.refetch()} />;
  return <Loading what="the card" />;
}
