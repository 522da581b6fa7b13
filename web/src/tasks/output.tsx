/**
 * What an attempt prints, live in a terminal or as plain text. The terminal's code is loaded only when one is
 * shown; when it cannot be, or the link ends, the text is still there. [WEB-14]
 */
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { openSocket, Problem } from "../api/client.ts";
import { Pre } from "../ui/pre.tsx";
import { Shown } from "../ui/shown.tsx";
import { plainText } from "./terminal-text.ts";

const TerminalScreen = lazy(() =>
  import("./terminal-screen.tsx").catch(() => ({
    default: () => <p className="quiet">The terminal could not be loaded. Use plain text.</p>,
  })),
);
const retryMs = 2_000;
const shownChars = 200_000;

export function AttemptOutput({ id, running }: { readonly id: string; readonly running: boolean }) {
  const [open, setOpen] = useState(running);
  if (!open)
    return (
      <button type="button" className="small plain" onClick={() => setOpen(true)}>
        Show what it printed
      </button>
    );
  return <Output id={id} running={running} />;
}

function Output({ id, running }: { readonly id: string; readonly running: boolean }) {
  const output = useOutput(id, running);
  const [choice, setChoice] = useState<"terminal" | "text" | null>(null);
  const view = choice ?? (output.state === "live" || output.state === "opening" ? "terminal" : "text");
  return (
    <section className="output" aria-label="Output">
      <div className="output-bar">
        <span className={`link ${output.state}`}>{stateWords[output.state]}</span>
        <button
          type="button"
          className="small plain"
          onClick={() => setChoice(view === "terminal" ? "text" : "terminal")}
        >
          {view === "terminal" ? "Plain text" : "Terminal"}
        </button>
      </div>
      {output.problem !== null && <p className="bad-text">{output.problem}</p>}
      {view === "terminal" ? (
        <Suspense fallback={<p className="quiet">Loading the terminal…</p>}>
          <TerminalScreen log={output.log} />
        </Suspense>
      ) : (
        <Text log={output.log} />
      )}
    </section>
  );
}

const stateWords = { opening: "Opening…", live: "Live", ended: "Ended", lost: "Link lost, trying again" } as const;

/** Bytes so far and whoever wants the next ones. A resize is told too, in its place. */
export interface Log {
  readonly chunks: readonly Uint8Array[];
  readonly subscribe: (listener: () => void) => () => void;
}
interface WritableLog extends Log {
  readonly chunks: Uint8Array[];
  bytes: number;
  tell(): void;
}

function newLog(): WritableLog {
  const listeners = new Set<() => void>();
  return {
    chunks: [],
    bytes: 0,
    tell: () => {
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function useOutput(id: string, running: boolean) {
  const [log] = useState(newLog);
  const [state, setState] = useState<keyof typeof stateWords>("opening");
  const [problem, setProblem] = useState<string | null>(null);
  const stillRunning = useRef(running);
  stillRunning.current = running;
  useEffect(() => {
    let ended = false;
    let socket: WebSocket | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const connect = async (): Promise<void> => {
      try {
        socket = await openSocket(`/api/attempts/${encodeURIComponent(id)}/terminal`, { from: String(log.bytes) });
      } catch (error) {
        if (ended) return;
        setProblem(error instanceof Problem ? error.message : String(error));
        return setState("ended");
      }
      if (ended) return socket.close();
      let over = false;
      socket.binaryType = "arraybuffer";
      socket.onopen = () => setState("live");
      socket.onmessage = ({ data }) => {
        if (!(data instanceof ArrayBuffer)) {
          over ||= String(data).includes('"exit"');
          return;
        }
        log.chunks.push(new Uint8Array(data));
        log.bytes += data.byteLength;
        log.tell();
      };
      socket.onclose = () => {
        if (ended) return;
        if (!stillRunning.current) setState("ended");
        else if (!over) setState("lost");
        // It goes on from the last byte seen, so nothing is printed twice. "Over" while the task still says
        // "running" is an agent that has not begun yet, or news on its way.
        if (stillRunning.current) timer = setTimeout(connect, retryMs);
      };
    };
    void connect();
    return () => {
      ended = true;
      clearTimeout(timer);
      socket?.close();
    };
  }, [id, log]);
  // The link stays open a while after the attempt's end; what it says then is not live any more.
  return { log, state: state === "live" && !running ? ("ended" as const) : state, problem };
}

function Text({ log }: { readonly log: Log }) {
  const [text, setText] = useState("");
  useEffect(() => {
    let frame = 0;
    const read = (): void => {
      frame = 0;
      setText(plainText(decode(log.chunks)));
    };
    const later = (): void => {
      frame ||= requestAnimationFrame(read);
    };
    read();
    const stop = log.subscribe(later);
    return () => {
      cancelAnimationFrame(frame);
      stop();
    };
  }, [log]);
  return (
    <Pre className="output-text">
      {text.length > shownChars && "[earlier output is in the terminal]\n"}
      {text === "" ? "It has printed nothing." : <Shown text={text.slice(-shownChars)} />}
    </Pre>
  );
}

function decode(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
}
