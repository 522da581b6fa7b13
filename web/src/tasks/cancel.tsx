/** Ends a task, after asking once more. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { cancelTask, type TaskView } from "../api/queries.ts";
import { Failure } from "../ui/notice.tsx";

export function Cancel({ task }: { readonly task: TaskView }) {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const cancelling = useMutation({
    mutationFn: () => cancelTask(task.id, reason.trim()),
    onSettled: () => client.invalidateQueries({ queryKey: ["task", task.id] }),
  });
  useEffect(() => {
    if (asking) field.current?.focus();
  }, [asking]);
  if (!asking)
    return (
      <p className="cancel">
        <button type="button" className="plain deny" onClick={() => setAsking(true)}>
          Cancel this task…
        </button>
      </p>
    );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!cancelling.isPending && reason.trim() !== "") cancelling.mutate();
  };
  return (
    <form
      className="cancel answer deny"
      onSubmit={submit}
      onKeyDown={(event) => event.key === "Escape" && setAsking(false)}
      aria-label="Cancel this task"
    >
      <p>What runs is ended within seconds. Finished work is kept but not published. This cannot be undone.</p>
      <label htmlFor="cancel-reason">Reason</label>
      <input
        id="cancel-reason"
        ref={field}
        type="text"
        required
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      {cancelling.error !== null && <Failure error={cancelling.error} />}
      <div className="choices">
        <button type="submit" className="deny solid" aria-disabled={cancelling.isPending}>
          {cancelling.isPending ? "Cancelling…" : "Cancel the task"}
        </button>
        <button type="button" className="plain" onClick={() => setAsking(false)}>
          Keep it
        </button>
      </div>
    </form>
  );
}
