/** Entry of the page. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Problem } from "./api/client.ts";
import { App } from "./app.tsx";
import { startSession } from "./session.ts";
import "./style/base.css";
import "./style/controls.css";
import "./style/document.css";
import "./style/review.css";
import "./style/tasks.css";
import "./style/work.css";
import "./style/activity.css";
import "./style/queues.css";
import "./style/policy.css";
import "./style/standing.css";
import "./style/minds.css";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // Events say when something changed; the clock does not.
      staleTime: 30_000,
      networkMode: "always",
      // What the service refused it will refuse again; what it could not answer it may answer soon.
      retry: (failures, error) =>
        failures < 3 && !(error instanceof Problem && error.status >= 400 && error.status < 500),
    },
    mutations: { networkMode: "always", retry: false },
  },
});

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
void startSession();
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
