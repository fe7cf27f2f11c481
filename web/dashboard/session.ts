import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { createContext, use } from "react";
import { dashboardKey } from "../calls/lists.ts";
import { ask, type CurrentUser } from "../calls/members.ts";
import { pageMember, setPageMember } from "../calls/page-member.ts";
import { Refusal } from "../calls/refusal.ts";
import { showAnswer } from "../calls/rows.ts";
import { loadPage, tellTabs } from "./tabs.ts";

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
  const user = use(SessionContext);
  if (!user) throw new Error("useSession was called outside the dashboard's frame.");
  return { ...user, isOwner: user.member.role === "owner" };
}

/** The accounts that this browser is signed in to, the current one first. */
export const browserSessionsQuery = queryOptions({
  queryKey: [dashboardKey, "browser-sessions"],
  queryFn: ({ signal }) => ask("GET /browser-sessions", { signal }),
});

/** Stores a new session and drops the data that an earlier one has read. If that was another member's, loads the page `to` instead. */
export function beginSession(client: QueryClient, user: CurrentUser, to: string): void {
  const { id } = user.member;
  tellTabs(id);
  if (pageMember() !== undefined && pageMember() !== id) {
    loadPage(to);
    return;
  }
  setPageMember(id);
  forget(client);
  showAnswer(client, sessionQuery.queryKey, user);
}

/**
 * Returns the session if it belongs to the member whom this page is for. Otherwise never resolves: reloads the page, or loads `/dashboard`
 * from any of the dashboard's pages.
 */
function ofThisPage(user: CurrentUser): Promise<CurrentUser> {
  const { id } = user.member;
  if (pageMember() !== undefined && pageMember() !== id) {
    loadPage(location.pathname.startsWith("/dashboard") ? undefined : location.pathname);
    return new Promise(() => {});
  }
  setPageMember(id);
  return Promise.resolve(user);
}

/** Notes that the session has ended. Every page of the dashboard then redirects to the sign-in page. */
export function sessionEnded(client: QueryClient): void {
  setPageMember(undefined);
  showAnswer(client, sessionQuery.queryKey, null);
  forget(client);
}

/**
 * Signs out, and continues with the account that this browser used before, if there is one. Keeps the session if the call fails.
 *
 * @throws Refusal
 */
export async function signOut(client: QueryClient): Promise<void> {
  const next = await ask("POST /sign-out");
  tellTabs(next?.member.id ?? null);
  if (next) loadPage();
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
  loadPage();
}

function forget(client: QueryClient): void {
  client.removeQueries({ queryKey: [dashboardKey], predicate: ({ queryKey }) => queryKey[1] !== sessionQuery.queryKey[1] });
}
