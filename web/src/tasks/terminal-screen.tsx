/** The terminal itself: shows what is written to it, takes no input, follows no link. Loaded on demand. [WEB-14] */
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { useEffect, useRef } from "react";
import type { Log } from "./output.tsx";

const rows = 24;
const minCols = 20;

export default function TerminalScreen({ log }: { readonly log: Log }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const terminal = new Terminal({
      rows,
      cols: 80,
      convertEol: true,
      disableStdin: true,
      cursorBlink: false,
      cursorInactiveStyle: "none",
      fontFamily: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
      fontSize: 12.5,
      scrollback: 10_000,
      screenReaderMode: true,
      // A link in a program's output is that program's word, not ours: it leads nowhere.
      linkHandler: { activate: () => {} },
      theme: { background: "#14171b", foreground: "#dfe2e6" },
    });
    terminal.open(element);
    const fitWidth = (): void => {
      const cell = element.querySelector(".xterm-screen")?.getBoundingClientRect().width ?? 0;
      if (cell === 0) return;
      const cols = Math.floor(element.clientWidth / (cell / terminal.cols)) - 2;
      if (cols >= minCols && cols !== terminal.cols) terminal.resize(cols, rows);
    };
    fitWidth();
    const observer = new ResizeObserver(fitWidth);
    observer.observe(element);
    let written = 0;
    const write = (): void => {
      for (; written < log.chunks.length; written += 1) {
        const chunk = log.chunks[written];
        if (chunk !== undefined) terminal.write(chunk);
      }
    };
    write();
    const stop = log.subscribe(write);
    return () => {
      stop();
      observer.disconnect();
      terminal.dispose();
    };
  }, [log]);
  return <div className="terminal" ref={place} />;
}
