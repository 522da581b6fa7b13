/** The operations that the App asks itself, or of an installation as a whole. */
import { problem, type Reply } from "./faults.ts";
import { invalid, type Json, notFound, paged, type Rule, type Surroundings } from "./rules.ts";
import type { State } from "./state.ts";

export function appOperations({ state, answers, base, deliveries, redeliver }: Surroundings): Record<string, Rule> {
  return {
    "GET /app": { as: "app", run: () => ({ status: 200, body: answers.app() }) },
    "GET /app/installations/{installation_id}": {
      as: "app",
      run: ({ parameters }) => {
        const found = state.installations.get(Number(parameters.installation_id));
        return found === undefined ? notFound : { status: 200, body: answers.installation(found) };
      },
    },
    "POST /app/installations/{installation_id}/access_tokens": {
      as: "app",
      run: ({ parameters, body }) => makeToken(state, Number(parameters.installation_id), body),
    },
    "GET /app/hook/deliveries": {
      as: "app",
      run: ({ query }) => {
        const all = deliveries();
        const from = Number((query.get("cursor") ?? "v1_0").slice(3));
        const size = Number(query.get("per_page") ?? 30);
        const next = `<${base()}/app/hook/deliveries?per_page=${size}&cursor=v1_${from + size}>; rel="next"`;
        const headers: Record<string, string> = from + size < all.length ? { link: next } : {};
        return { status: 200, headers, body: all.slice(from, from + size) };
      },
    },
    "POST /app/hook/deliveries/{delivery_id}/attempts": {
      as: "app",
      run: ({ parameters }) => (redeliver(parameters.delivery_id ?? "") ? { status: 202, body: {} } : notFound),
    },
    "POST /app-manifests/{code}/conversions": {
      as: "nobody",
      run: ({ parameters }) => {
        const code = parameters.code ?? "";
        const app = state.manifests.get(code);
        if (app === undefined) return notFound;
        // A code is good for once.
        state.manifests.delete(code);
        state.app = app;
        return { status: 201, body: answers.fromManifest(app) };
      },
    },
    "GET /installation/repositories": {
      as: "installation",
      run: (call) => {
        const { installation_id = 0, repositories = null } = call.token ?? {};
        const covered = [...(state.installations.get(installation_id)?.repositories ?? [])];
        const all = covered
          .filter((id) => repositories?.includes(id) ?? true)
          .flatMap((id) => state.repos.get(id) ?? []);
        const listed = all.map((one) => answers.repository(one));
        return paged(base(), listed, call, "/installation/repositories", (page) => ({
          total_count: all.length,
          repositories: page,
        }));
      },
    },
    "DELETE /installation/token": {
      as: "installation",
      run: ({ token }) => {
        state.tokens.delete(token?.text ?? "");
        return { status: 204 };
      },
    },
  };
}

/** Narrowed to what was asked for; what the installation does not have is refused. */
function makeToken(state: State, installation_id: number, body: Json): Reply {
  const installation = state.installations.get(installation_id);
  if (installation === undefined) return notFound;
  if (installation.suspended) return problem(403, "This installation has been suspended");
  const asked = body.repository_ids as number[] | undefined;
  if (asked?.some((id) => !installation.repositories.has(id)))
    return invalid(
      "There is at least one repository that does not exist or is not accessible to the parent installation.",
    );
  const held: Readonly<Record<string, string>> = state.app.permissions;
  const permissions = { metadata: "read", ...((body.permissions ?? held) as Record<string, string>) };
  const beyond = Object.entries(permissions).filter(([name, level]) => held[name] !== level && held[name] !== "write");
  if (beyond.length > 0) return invalid("The permissions requested are not granted to this installation.");
  const expires_ms = Date.now() + 3_600_000;
  const token = state.makeToken({ installation_id, repositories: asked ?? null, permissions, expires_ms });
  const expires_at = `${new Date(expires_ms).toISOString().slice(0, 19)}Z`;
  return {
    status: 201,
    body: { token, expires_at, permissions, repository_selection: asked === undefined ? "all" : "selected" },
  };
}
