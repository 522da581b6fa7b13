/** Having a memory forgotten: it says what that does and asks for the reason first. [WEB-86] */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { forgetMemory } from "../api/minds.ts";
import { Failure } from "../ui/notice.tsx";

export function Forget({ id }: { readonly id: string }) {
  const [open, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setOpen(false);
    setTimeout(() => opener.current?.focus());
  };
  if (open) return <Reason id={id} onClose={close} />;
  return (
    <button type="button" className="small plain" ref={opener} onClick={() => setOpen(true)}>
      Forget…
    </button>
  );
}

function Reason({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const client = useQueryClient();
  const [reason, setReason] = useState("");
  const ids = useId();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const forgetting = useMutation({
    mutationFn: () => forgetMemory(id, reason.trim()),
    onSettled: () => client.invalidateQueries({ queryKey: ["memory"] }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (forgetting.isPending) return;
    if (reason.trim() === "") field.current?.focus();
    else forgetting.mutate();
  };
  return (
    <form
      className="answer memory-answer"
      onSubmit={submit}
      onKeyDown={(event) => event.key === "Escape" && !forgetting.isPending && onClose()}
      aria-label="Have this forgotten"
    >
      <p id={`${ids}-does`}>
        Its title and text are wiped, and no agent is told of it again. The record stays as it was: the plan or the
        decision itself, what agents printed and were told, and the audit.
      </p>
      <label htmlFor={`${ids}-reason`}>Reason</label>
      <input
        id={`${ids}-reason`}
        ref={field}
        type="text"
        maxLength={2_000}
        required
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      {forgetting.error !== null && <Failure error={forgetting.error} />}
      <div className="choices">
        <button type="submit" className="ink" aria-disabled={forgetting.isPending} aria-describedby={`${ids}-does`}>
          {forgetting.isPending ? "Forgetting…" : "Forget"}
        </button>
        <button type="button" className="plain" onClick={onClose} disabled={forgetting.isPending}>
          Not now
        </button>
      </div>
    </form>
  );
}
