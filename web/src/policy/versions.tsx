/** The policy's versions, newest first; each can be looked at. [WEB-61] */
import { useInfiniteQuery } from "@tanstack/react-query";
import { policyVersions } from "../api/policy.ts";
import { Link } from "../route.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago } from "../ui/time.tsx";

export function Versions({ shown }: { readonly shown: number }) {
  const versions = useInfiniteQuery(policyVersions);
  const items = versions.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section aria-labelledby="policy-versions">
      <h2 id="policy-versions">Versions</h2>
      {versions.isPending && <Loading what="the versions" />}
      {versions.data === undefined && versions.error !== null && (
        <Failure error={versions.error} again={() => void versions.refetch()} />
      )}
      <ul className="policy-rules">
        {items.map(({ version, changed_at, changed_by, reason }) => (
          <li key={version}>
            <Link to={`/policy/${version}`} aria-current={version === shown ? "true" : undefined}>
              Version {version}
            </Link>
            <span className="quiet">
              by {changed_by === null ? "the service" : <Shown text={changed_by} line />} <Ago at={changed_at} />
              {reason !== null && (
                <>
                  {": "}
                  <Shown text={reason} line />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
      {versions.hasNextPage && (
        <button type="button" className="plain" onClick={() => void versions.fetchNextPage()}>
          Show older ones
        </button>
      )}
    </section>
  );
}
