/** Pause, resume, drain: each says what it does and asks for the reason first. [WEB-33] */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { moveQueue, type QueueDetail, type QueueMove } from "../api/queues.ts";
import { Failure } from "../ui/notice.tsx";
import { moves, movesOf } from "./words.ts";

export function Moves({ queue }: { readonly queue: QueueDetail }) {
  const [open, setOpen] = useState<QueueMove | null>(null);
  const openers = useRef<Partial<Record<QueueMove, HTMLButtonElement | null>>>({});
  const close = (): void => {
    if (open !== null) setTimeout(() => openers.current[open]?.focus());
    setOpen(null);
  };
  if (open !== null) return <Move queue={queue} move={open} onClose={close} key={open} />;
  return (
    <div className="choices">
      {movesOf(queue.state).map((move) => (
        <button
          type="button"
          className="plain"
          ref={(element) => {
            openers.current[move] = element;
          }}
          onClick={() => setOpen(move)}
          key={move}
        >
          {moves[move].opens}
        </button>
      ))}
    </div>
  );
}

interface MoveProps {
  readonly queue: QueueDetail;
  readonly move: QueueMove;
  readonly onClose: () => void;
}

function Move({ queue, move, onClose }: MoveProps) {
  const client = useQueryClient();
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const needed = move !== "resume";
  const moving = useMutation({
    mutationFn: () => moveQueue(queue.name, move, reason.trim()),
    onSuccess: () => {
      onClose();
      setTimeout(() => document.getElementById("queue-title")?.focus());
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["queues"] }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (moving.isPending) return;
    if (needed && reason.trim() === "") field.current?.focus();
    else moving.mutate();
  };
  const words = moves[move];
  return (
    <form
      className="answer move"
      onSubmit={submit}
      onKeyDown={(event) => event.key === "Escape" && !moving.isPending && onClose()}
      aria-label={`${words.opens.replace("…", "")} this queue`}
    >
      <p id="move-does">{words.does}</p>
      <label htmlFor="move-reason">Reason{needed ? "" : " (optional)"}</label>
      <input
        id="move-reason"
        ref={field}
        type="text"
        maxLength={2_000}
        required={needed}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      {moving.error !== null && <Failure error={moving.error} />}
      <div className="choices">
        <button type="submit" className="ink" aria-disabled={moving.isPending} aria-describedby="move-does">
          {moving.isPending ? words.busy : words.confirm}
        </button>
        <button type="button" className="plain" onClick={onClose} disabled={moving.isPending}>
          Not now
        </button>
      </div>
    </form>
  );
}
