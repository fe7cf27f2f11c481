import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { createContext, use } from "react";
import { dashboardKey } from "../calls/lists.ts";
import { ask, type CurrentUser } from "../calls/members.ts";
import { pageMember, setPageMember } from "../calls/page-member.ts";
import { Refusal } from "../calls/refusal.ts";
import { showAnswer } from "../calls/rows.ts";
import { loadAnew, tellTabs } from "./tabs.ts";

/** The signed-in member and account; null without a session. */
export const sessionQuery = queryOptions({
  queryKey: [dashboardKey, "session"],
  staleTime: 60_000,
  refetchOnWindowFocus: true,
  queryFn: async ({ signal }): Promise<CurrentUser | null> => {
    try {
      return await ofThisPage(await ask("GET /session", { signal }));
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) return null;
      throw error;
    }
  },
});

export const SessionContext = createContext<CurrentUser | undefined>(undefined);

/** Returns the signed-in member and account. Only for pages below `/dashboard`. */
export function useSession(): CurrentUser & { isOwner: boolean } {
  const standing = use(SessionContext);
  if (!standing) throw new Error("This part stands outside the dashboard's frame.");
  return { ...standing, isOwner: standing.member.role === "owner" };
}

/** The accounts that this browser is signed in to, the current one first. */
export const browserSessionsQuery = queryOptions({
  queryKey: [dashboardKey, "browser-sessions"],
  queryFn: ({ signal }) => ask("GET /browser-sessions", { signal }),
});

/** Stores a new session and drops all data that an earlier session has read. If that was of somebody else, loads the page `to` anew. */
export function beginSession(client: QueryClient, standing: CurrentUser, to: string): void {
  const { id } = standing.member;
  tellTabs(id);
  if (pageMember() !== undefined && pageMember() !== id) {
    loadAnew(to);
    return;
  }
  setPageMember(id);
  forget(client);
  showAnswer(client, sessionQuery.queryKey, standing);
}

/** Returns the session if it is of the member whom this page is for. Otherwise loads the page anew, or the dashboard from one of its own, and never resolves. */
function ofThisPage(standing: CurrentUser): Promise<CurrentUser> {
  const { id } = standing.member;
  if (pageMember() !== undefined && pageMember() !== id) {
    loadAnew(location.pathname.startsWith("/dashboard") ? undefined : location.pathname);
    return new Promise(() => {});
  }
  setPageMember(id);
  return Promise.resolve(standing);
}

/** Stores that the session has ended; every page of the dashboard then redirects to the sign-in page. */
export function sessionEnded(client: QueryClient): void {
  setPageMember(undefined);
  showAnswer(client, sessionQuery.queryKey, null);
  forget(client);
}

/** Signs out, and goes on with the account that this browser used before, if there is one. Keeps the session if the call fails. @throws Refusal */
export async function signOut(client: QueryClient): Promise<void> {
  const next = await ask("POST /sign-out");
  tellTabs(next?.member.id ?? null);
  if (next) loadAnew();
  else sessionEnded(client);
}

/** Signs out of all accounts in this browser. @throws Refusal */
export async function signOutOfAll(client: QueryClient): Promise<void> {
  await ask("DELETE /browser-sessions");
  tellTabs(null);
  sessionEnded(client);
}

/** Switches all tabs of this browser to another account that it is signed in to. @throws Refusal */
export async function switchTo(memberId: number): Promise<void> {
  await ask("POST /browser-sessions/{id}/switch", { id: memberId });
  tellTabs(memberId);
  loadAnew();
}

function forget(client: QueryClient): void {
  client.removeQueries({ queryKey: [dashboardKey], predicate: ({ queryKey }) => queryKey[1] !== sessionQuery.queryKey[1] });
}
