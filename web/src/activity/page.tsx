/** Activity: everything as it happens, and who is doing what. [WEB-11] */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLive } from "../api/live.ts";
import { agents, type EventView } from "../api/queries.ts";
import { Empty, Failure, Loading } from "../ui/notice.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago } from "../ui/time.tsx";
import { EventLine } from "./line.tsx";

type Surface = EventView["surfaces"][number];
const filters: readonly (readonly [Surface | "all", string])[] = [
  ["all", "Everything"],
  ["stream", "Stream"],
  ["review", "Review"],
  ["activity", "Activity"],
];
const linkWords = { connecting: "Connecting…", live: "Live", waiting: "Link lost, trying again" } as const;

export function ActivityPage() {
  const { link, events, gap } = useLive();
  const [surface, setSurface] = useState<Surface | "all">("all");
  const [frozen, setFrozen] = useState<readonly EventView[] | null>(null);
  const source = frozen ?? events;
  const seen = source.filter((event) => surface === "all" || event.surfaces.includes(surface));
  return (
    <div className="activity">
      <section aria-label="Events">
        <div className="page-head">
          <h1>Activity</h1>
          <span className={`link ${link}`}>{linkWords[link]}</span>
        </div>
        <div className="feed-tools">
          <fieldset className="segments">
            <legend className="unseen">Surface</legend>
            {filters.map(([value, word]) => (
              <label key={value}>
                <input type="radio" name="surface" checked={surface === value} onChange={() => setSurface(value)} />
                <span>{word}</span>
              </label>
            ))}
          </fieldset>
          <button
            type="button"
            className="small plain"
            aria-pressed={frozen !== null}
            onClick={() => setFrozen(frozen === null ? events : null)}
          >
            {frozen === null ? "Hold still" : "Go on"}
          </button>
        </div>
        {gap && <p className="quiet">Older events are no longer kept; the feed begins here.</p>}
        {seen.length === 0 ? (
          <Empty title="Quiet">
            <p>What agents and people do appears here as it happens.</p>
          </Empty>
        ) : (
          <ol className="events feed" reversed>
            {seen.toReversed().map((event) => (
              <EventLine event={event} withTask key={event.seq} />
            ))}
          </ol>
        )}
      </section>
      <Agents />
    </div>
  );
}

function Agents() {
  const list = useQuery(agents);
  return (
    <section className="agents" aria-label="Agents">
      <h2>Agents</h2>
      {list.isPending && <Loading what="agents" />}
      {list.data === undefined && list.error !== null && (
        <Failure error={list.error} again={() => void list.refetch()} />
      )}
      {list.data?.length === 0 && <p className="quiet">No agent yet. They are made when the first task comes.</p>}
      <ul>
        {list.data?.map((agent) => (
          <li key={agent.name}>
            <span className="agent-name">{agent.name}</span>
            <span className={`agent-word ${agent.state}`}>{agent.word}</span>
            <span className="quiet agent-note">
              {agent.current !== null ? (
                <Shown text={agent.current} line />
              ) : (
                agent.last_seen !== null && (
                  <>
                    seen <Ago at={agent.last_seen} />
                  </>
                )
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
