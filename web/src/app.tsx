/** The frame: who may come in, where things are, whether the service is there. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useState } from "react";
import { ActivityPage } from "./activity/page.tsx";
import { startLive, useLive } from "./api/live.ts";
import { pendingApprovals } from "./api/queries.ts";
import { MemoryPage } from "./memory/page.tsx";
import { QueuesPage } from "./queues/page.tsx";
import { ReviewPage } from "./review/page.tsx";
import { Link, navigate, partsOf, usePath } from "./route.tsx";
import { type Me, signOut, useSession } from "./session.ts";
import { SignIn } from "./signin.tsx";
import { StandingPage } from "./standing/page.tsx";
import { NewTaskPage } from "./tasks/form.tsx";
import { TasksPage } from "./tasks/list.tsx";
import { TaskPage } from "./tasks/page.tsx";
import { Empty, Loading } from "./ui/notice.tsx";
import { Help, useShortcuts } from "./ui/shortcuts.tsx";

/** It reads policies by the service's own code, which no other room needs. */
const PolicyPage = lazy(() => import("./policy/page.tsx").then((room) => ({ default: room.PolicyPage })));

export function App() {
  const session = useSession();
  if (session.kind !== "open") return <SignIn session={session} />;
  return <Frame me={session.me} />;
}

function Frame({ me }: { readonly me: Me }) {
  const client = useQueryClient();
  const path = usePath();
  const parts = partsOf(path);
  const [help, setHelp] = useState(false);
  const waiting = useQuery(pendingApprovals).data?.items.length ?? 0;
  useEffect(() => startLive(client), [client]);
  useShortcuts({ "?": () => setHelp(true) });
  useEffect(() => {
    if (parts.length === 0) navigate("/review", "replace");
  }, [parts.length]);
  useTitle(parts, waiting);

  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="bar">
        <Link to="/review" className="wordmark">
          Countersign
        </Link>
        <nav aria-label="Pages">
          <Tab to="/review" at={parts[0]}>
            Review {waiting > 0 && <span className="count">{waiting}</span>}
          </Tab>
          <Tab to="/tasks" at={parts[0]}>
            Tasks
          </Tab>
          <Tab to="/activity" at={parts[0]}>
            Activity
          </Tab>
          <Tab to="/queues" at={parts[0]}>
            Queues
          </Tab>
          <Tab to="/memory" at={parts[0]}>
            Memory
          </Tab>
          <Tab to="/policy" at={parts[0]}>
            Policy
          </Tab>
        </nav>
        <div className="bar-end">
          <button type="button" className="small plain keys-button" onClick={() => setHelp(true)}>
            Keys
          </button>
          <button
            type="button"
            className="small plain"
            onClick={() => void signOut()}
            title={`Signed in as ${me.subject} (${me.role})`}
          >
            Sign out
          </button>
        </div>
      </header>
      <Offline />
      <main id="main" tabIndex={-1}>
        <Page parts={parts} />
      </main>
      <p className="unseen" aria-live="polite">
        {waiting === 0 ? "" : `${waiting} ${waiting === 1 ? "card waits" : "cards wait"} for a decision`}
      </p>
      {help && <Help onClose={() => setHelp(false)} />}
    </>
  );
}

function Tab({
  to,
  at,
  children,
}: {
  readonly to: string;
  readonly at: string | undefined;
  readonly children: React.ReactNode;
}) {
  return (
    <Link to={to} aria-current={at === to.slice(1) ? "page" : undefined}>
      {children}
    </Link>
  );
}

function Page({ parts }: { readonly parts: readonly string[] }) {
  const [room, id, ...rest] = parts;
  if (room === undefined) return null;
  if (rest.length === 0) {
    if (room === "review") return <ReviewPage id={id ?? null} />;
    if (room === "tasks" && id === undefined) return <TasksPage />;
    if (room === "tasks" && id === "new") return <NewTaskPage />;
    if (room === "tasks" && id !== undefined) return <TaskPage id={id} key={id} />;
    if (room === "activity" && id === undefined) return <ActivityPage />;
    if (room === "queues") return <QueuesPage name={id ?? null} />;
    if (room === "memory" && id === undefined) return <MemoryPage />;
    if (room === "standing") return <StandingPage id={id ?? null} />;
    if (room === "policy" && /^(?:[1-9]\d{0,8})?$/.test(id ?? ""))
      return (
        <Suspense fallback={<Loading what="the policy" />}>
          <PolicyPage version={id === undefined ? null : Number(id)} key={id} />
        </Suspense>
      );
  }
  return (
    <Empty title="There is no page here">
      <p>
        Go to <Link to="/review">Review</Link>, <Link to="/tasks">Tasks</Link>, <Link to="/activity">Activity</Link>,{" "}
        <Link to="/queues">Queues</Link>, <Link to="/memory">Memory</Link> or <Link to="/policy">Policy</Link>.
      </p>
    </Empty>
  );
}

function Offline() {
  const { link } = useLive();
  return (
    <div role="status" className="offline-place">
      {link === "waiting" && (
        <p className="offline">The link to the service is lost. What you see may be old. Trying again by itself.</p>
      )}
    </div>
  );
}

const titles: Readonly<Record<string, string>> = {
  review: "Review",
  tasks: "Tasks",
  activity: "Activity",
  queues: "Queues",
  standing: "Approved in advance",
  memory: "Memory",
  policy: "Policy",
};

function useTitle(parts: readonly string[], waiting: number): void {
  const place = titles[parts[0] ?? ""] ?? "";
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${place === "" ? "" : `${place} · `}Countersign`;
  }, [place, waiting]);
}
