/** On this channel the tabs of a browser send each other the member who is signed in now, or null after the last sign-out. */
const name = "petstore-session";

/** Tells the other tabs who is signed in now. */
export function tellTabs(member: number | null): void {
  const channel = new BroadcastChannel(name);
  // a channel reaches pages of the same origin only
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  channel.postMessage(member);
  channel.close();
}

/** Calls `listen` with the member that another tab sends. Returns a function that removes the listener. */
export function onTabsMember(listen: (member: number | null) => void): () => void {
  const channel = new BroadcastChannel(name);
  channel.addEventListener("message", ({ data }: MessageEvent<number | null>) => listen(data));
  return () => channel.close();
}

/** Loads a page for the account that is signed in now. All data of this page is dropped. Default: the dashboard. */
export function loadPage(to = "/dashboard"): void {
  location.replace(to);
}
