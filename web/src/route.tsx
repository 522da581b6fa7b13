/** Routing by the browser's own history: a path is the state, a link is a link. */
import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from "react";

const moved = "countersign:moved";

function subscribe(listener: () => void): () => void {
  addEventListener("popstate", listener);
  addEventListener(moved, listener);
  return () => {
    removeEventListener("popstate", listener);
    removeEventListener(moved, listener);
  };
}
export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname);
}
export function navigate(to: string, how: "push" | "replace" = "push"): void {
  if (to === location.pathname) return;
  if (how === "push") history.pushState(null, "", to);
  else history.replaceState(null, "", to);
  scrollTo(0, 0);
  dispatchEvent(new Event(moved));
}

/** `/tasks/abc` -> ["tasks", "abc"]. A part that is not well-formed is kept as it stands and finds nothing. */
export function partsOf(path: string): readonly string[] {
  return path
    .split("/")
    .filter((part) => part !== "")
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
}

type LinkProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href"> & { readonly to: string };

export function Link({ to, onClick, ...rest }: LinkProps) {
  const go = (event: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event);
    const wantsOwnTab = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0;
    if (event.defaultPrevented || wantsOwnTab) return;
    event.preventDefault();
    navigate(to);
  };
  return <a {...rest} href={to} onClick={go} />;
}
