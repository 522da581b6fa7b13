/** Taking a standing approval back: it says what that does and asks for the reason first. [WEB-66] */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { revokeStanding } from "../api/standing.ts";
import { Failure } from "../ui/notice.tsx";

export function Revoke({ id }: { readonly id: string }) {
  const [open, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setOpen(false);
    setTimeout(() => opener.current?.focus());
  };
  if (open) return <Reason id={id} onClose={close} />;
  return (
    <button type="button" className="plain" ref={opener} onClick={() => setOpen(true)}>
      Revoke…
    </button>
  );
}

function Reason({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const client = useQueryClient();
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const revoking = useMutation({
    mutationFn: () => revokeStanding(id, reason.trim()),
    onSuccess: () => setTimeout(() => document.getElementById("advance-title")?.focus()),
    onSettled: () => client.invalidateQueries({ queryKey: ["standing"] }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (revoking.isPending) return;
    if (reason.trim() === "") field.current?.focus();
    else revoking.mutate();
  };
  return (
    <form
      className="answer advance-answer"
      onSubmit={submit}
      onKeyDown={(event) => event.key === "Escape" && !revoking.isPending && onClose()}
      aria-label="Revoke this standing approval"
    >
      <p id="revoke-does">
        It speaks for nothing more, at once. Work it approved that is not done stops, and its plans wait for a person. A
        task that is only waiting to be published is cancelled.
      </p>
      <label htmlFor="revoke-reason">Reason</label>
      <input
        id="revoke-reason"
        ref={field}
        type="text"
        maxLength={2_000}
        required
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      {revoking.error !== null && <Failure error={revoking.error} />}
      <div className="choices">
        <button type="submit" className="ink" aria-disabled={revoking.isPending} aria-describedby="revoke-does">
          {revoking.isPending ? "Revoking…" : "Revoke"}
        </button>
        <button type="button" className="plain" onClick={onClose} disabled={revoking.isPending}>
          Not now
        </button>
      </div>
    </form>
  );
}
