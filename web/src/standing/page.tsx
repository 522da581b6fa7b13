/** Standing approvals: which there are, and the one being read or made. [WEB-64] [WEB-68] */
import { useInfiniteQuery } from "@tanstack/react-query";
import { type StandingView, standingApprovals } from "../api/standing.ts";
import { Link, navigate } from "../route.tsx";
import { useMay } from "../session.ts";
import { Empty, Failure, Loading } from "../ui/notice.tsx";
import { useShortcuts } from "../ui/shortcuts.tsx";
import { Shown } from "../ui/shown.tsx";
import { NewStanding } from "./form.tsx";
import { OneStanding } from "./one.tsx";
import { statusWords } from "./words.ts";

export function StandingPage({ id }: { readonly id: string | null }) {
  const list = useInfiniteQuery(standingApprovals);
  const may = useMay("approver");
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  const step = (by: 1 | -1): void => {
    const at = items.findIndex((item) => item.id === id);
    const next = items[at === -1 ? (by === 1 ? 0 : items.length - 1) : at + by];
    if (next !== undefined) navigate(pathOf(next));
  };
  useShortcuts({ j: () => step(1), k: () => step(-1) });
  // The open one's name is the page's heading while there is one.
  const ListTitle = id === null ? "h1" : "h2";
  return (
    <div className={id === null ? "advance" : "advance reading"}>
      <section className="advance-list" aria-label="All standing approvals">
        {id !== null && (
          <Link to="/standing" className="back">
            All standing approvals
          </Link>
        )}
        <ListTitle className="list-title">Approved in advance</ListTitle>
        <p className="quiet">A plan inside the bounds of one of these runs without waiting for a person.</p>
        {may && (
          <p>
            <Link to="/standing/new">Approve in advance…</Link>
          </p>
        )}
        {list.isPending && <Loading what="standing approvals" />}
        {list.data === undefined && list.error !== null && (
          <Failure error={list.error} again={() => void list.refetch()} />
        )}
        {list.data !== undefined && items.length === 0 && (
          <Empty title="Nothing is approved in advance">
            <p>
              Every plan waits in <Link to="/review">Review</Link> for a person.
            </p>
          </Empty>
        )}
        <ul>
          {items.map((item) => (
            <Row item={item} current={item.id === id} key={item.id} />
          ))}
        </ul>
        {list.hasNextPage && (
          <button type="button" className="plain" disabled={list.isFetching} onClick={() => void list.fetchNextPage()}>
            Older ones
          </button>
        )}
      </section>
      <div className="advance-open">
        {id === null && items.length > 0 && <p className="quiet">Choose one to read its bounds.</p>}
        {id === "new" && <NewStanding may={may} />}
        {id !== null && id !== "new" && <OneStanding id={id} may={may} key={id} />}
      </div>
    </div>
  );
}

function Row({ item, current }: { readonly item: StandingView; readonly current: boolean }) {
  return (
    <li>
      <Link to={pathOf(item)} className="advance-row" aria-current={current ? "true" : undefined}>
        <span className="advance-name">
          <Shown text={item.name} line />
        </span>
        <span className={`advance-status ${item.status}`}>{statusWords[item.status]}</span>
        <span className="quiet advance-counts">
          {item.uses_left} of {item.uses} uses left · until {new Date(item.until).toLocaleDateString()}
        </span>
      </Link>
    </li>
  );
}

function pathOf(item: StandingView): string {
  return `/standing/${encodeURIComponent(item.id)}`;
}
