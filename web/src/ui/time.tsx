/** Times as people say them, with the exact one a hover or a tap away. */
import { useSyncExternalStore } from "react";

const tickMs = 15_000;

function subscribe(listener: () => void): () => void {
  const timer = setInterval(listener, tickMs);
  return () => clearInterval(timer);
}
const tick = (): number => Math.floor(Date.now() / tickMs);

export function Ago({ at }: { readonly at: string }) {
  useSyncExternalStore(subscribe, tick);
  const then = new Date(at);
  return (
    <time dateTime={at} title={then.toLocaleString()}>
      {ago(Date.now() - then.getTime(), then)}
    </time>
  );
}

export function ago(elapsedMs: number, then: Date): string {
  const minutes = Math.floor(elapsedMs / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ago`;
  if (hours < 24 * 7) return `${Math.floor(hours / 24)} d ago`;
  return then.toLocaleDateString();
}

/** A time that lies ahead. */
export function Until({ at }: { readonly at: string }) {
  useSyncExternalStore(subscribe, tick);
  const then = new Date(at);
  return (
    <time dateTime={at} title={then.toLocaleString()}>
      {until(then.getTime() - Date.now())}
    </time>
  );
}
export function until(leftMs: number): string {
  const minutes = Math.ceil(leftMs / 60_000);
  if (minutes <= 0) return "now";
  if (minutes < 60) return `in ${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `in ${hours} h ${minutes % 60} min`;
  return `in ${Math.floor(hours / 24)} d`;
}

export function Clock({ at }: { readonly at: string }) {
  return <time dateTime={at}>{new Date(at).toLocaleTimeString([], { hour12: false })}</time>;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

export function size(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(1)} KB`;
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}
