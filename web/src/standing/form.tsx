/** Makes a standing approval from its document; the service names the fields that do not hold. [WEB-67] */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import { freshKey, isRecord, Problem } from "../api/client.ts";
import { makeStanding } from "../api/standing.ts";
import { navigate } from "../route.tsx";
import { Failure } from "../ui/notice.tsx";
import { Shown } from "../ui/shown.tsx";
import { exampleStanding } from "./words.ts";

export function NewStanding({ may }: { readonly may: boolean }) {
  const client = useQueryClient();
  const [text, setText] = useState(() => exampleStanding(new Date()));
  const [unread, setUnread] = useState<string | null>(null);
  /** The same words are the same request, so that asking twice makes one. */
  const keys = useRef(new Map<string, string>());
  const making = useMutation({
    mutationFn: ({ input, key }: { input: unknown; key: string }) => makeStanding(input, key),
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: ["standing"] });
      navigate(`/standing/${encodeURIComponent(made.id)}`);
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (making.isPending) return;
    const input = parsed(text);
    setUnread("problem" in input ? input.problem : null);
    if ("problem" in input) return making.reset();
    const key = keys.current.get(text) ?? freshKey();
    keys.current.set(text, key);
    making.mutate({ input: input.value, key });
  };
  if (!may) return <p className="quiet">Approving in advance needs an approver.</p>;
  const wrong = fieldsOf(making.error);
  return (
    <form className="advance-form" onSubmit={submit}>
      <h1>Approve in advance</h1>
      <p>
        A plan that lies inside every bound is approved without a person, is carried out, and its branch is published.
        What is not listed is not allowed: no hosts, no secrets and no set-up unless you name them.
      </p>
      <label htmlFor="advance-text">The standing approval, as JSON</label>
      <textarea
        id="advance-text"
        rows={26}
        spellCheck={false}
        value={text}
        aria-describedby="advance-problems"
        aria-invalid={unread !== null || wrong.length > 0}
        onChange={(event) => setText(event.target.value)}
      />
      <div id="advance-problems" role="alert">
        {unread !== null && <p className="bad-text">This is not JSON: {unread}</p>}
        {wrong.length > 0 && (
          <>
            <p className="bad-text">Nothing was made. Correct what is wrong and send it again.</p>
            <ul className="bad-text advance-lines">
              {wrong.map(({ path, message }) => (
                <li key={`${path} ${message}`}>
                  <code>
                    <Shown text={path} line />
                  </code>{" "}
                  <Shown text={message} />
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      {making.error !== null && wrong.length === 0 && <Failure error={making.error} />}
      <div className="choices">
        <button type="submit" className="sign" aria-disabled={making.isPending}>
          {making.isPending ? "Sending…" : "Approve in advance"}
        </button>
        <button type="button" className="plain" onClick={() => navigate("/standing")}>
          Not now
        </button>
      </div>
    </form>
  );
}

function parsed(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : "it cannot be read" };
  }
}

/** With `bad_request` the service names the fields that are wrong. */
function fieldsOf(error: unknown): readonly { readonly path: string; readonly message: string }[] {
  if (!(error instanceof Problem) || !Array.isArray(error.fields.errors)) return [];
  return error.fields.errors
    .filter(isRecord)
    .map((found) => ({ path: String(found.path), message: String(found.message) }));
}
