/** The policy: what is in force and who made it so, a call tried out, the versions before, and a change. [WEB-60] */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { policySchema } from "../../../src/domain/policy.ts";
import { type PolicyView, policyAt } from "../api/policy.ts";
import { Link } from "../route.tsx";
import { useMay } from "../session.ts";
import { Hash } from "../ui/hash.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { Pre } from "../ui/pre.tsx";
import { Shown } from "../ui/shown.tsx";
import { Ago } from "../ui/time.tsx";
import { PolicyEditor } from "./edit.tsx";
import { PolicyTable } from "./table.tsx";
import { TryCall } from "./try.tsx";
import { Versions } from "./versions.tsx";

/** `version` is null for the one in force. */
export function PolicyPage({ version }: { readonly version: number | null }) {
  const policy = useQuery(policyAt(version));
  const may = useMay("admin");
  const [editing, setEditing] = useState(false);
  const edited = useRef(false);
  useEffect(() => {
    // The editor took the focus with it.
    if (edited.current && !editing) document.getElementById("policy-title")?.focus();
    edited.current = editing;
  }, [editing]);
  const title = version === null ? "Policy" : `Policy, version ${version}`;
  if (policy.data === undefined)
    return (
      <div className="policy">
        <h1>{title}</h1>
        {policy.error === null ? (
          <Loading what="the policy" />
        ) : (
          <Failure error={policy.error} again={() => void policy.refetch()} />
        )}
      </div>
    );
  if (editing) return <PolicyEditor from={policy.data} onClose={() => setEditing(false)} />;
  return (
    <div className="policy">
      {version !== null && (
        <Link to="/policy" className="back always">
          The policy in force
        </Link>
      )}
      <div className="page-head">
        <h1 id="policy-title" tabIndex={-1}>
          {title}
        </h1>
        {may && version === null && (
          <button type="button" className="plain" onClick={() => setEditing(true)}>
            Change…
          </button>
        )}
      </div>
      <Made view={policy.data} />
      <Document view={policy.data} />
      {version === null && <TryCall />}
      <Versions shown={policy.data.version} />
    </div>
  );
}

function Made({ view }: { readonly view: PolicyView }) {
  const { version, changed_by, changed_at, reason, policy_hash } = view;
  return (
    <div className="quiet policy-made">
      <p>
        Version {version}, by {changed_by === null ? "the service" : <Shown text={changed_by} line />}{" "}
        <Ago at={changed_at} />
        {reason !== null && (
          <>
            {": "}
            <Shown text={reason} line />
          </>
        )}
      </p>
      <Hash value={policy_hash} label="policy_hash" />
    </div>
  );
}

function Document({ view }: { readonly view: PolicyView }) {
  const read = policySchema.safeParse(view.policy);
  if (read.success) return <PolicyTable policy={read.data} />;
  return (
    <>
      <p className="quiet">This page does not know all of its rules, so it is shown as it is written.</p>
      <Pre>
        <Shown text={JSON.stringify(view.policy, null, 2)} />
      </Pre>
    </>
  );
}
