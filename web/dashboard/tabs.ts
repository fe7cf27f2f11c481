/** What one tab tells the others of the browser: the member who is signed in now, or null after the last sign-out. */
const name = "petstore-session";

/** Tells the other tabs who is signed in now. */
export function tellTabs(member: number | null): void {
  const channel = new BroadcastChannel(name);
  // a channel reaches pages of the same origin only
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  channel.postMessage(member);
  channel.close();
}

/** Calls `listen` with what another tab tells. Returns a function that stops this. */
export function onToldByTab(listen: (member: number | null) => void): () => void {
  const channel = new BroadcastChannel(name);
  channel.addEventListener("message", ({ data }: MessageEvent<number | null>) => listen(data));
  return () => channel.close();
}

/** Reloads the dashboard for the account that is signed in now. Nothing that this page has read or is reading remains. */
export function loadAnew(to = "/dashboard"): void {
  location.replace(to);
}
