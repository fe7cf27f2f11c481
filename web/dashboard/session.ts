import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { createContext, use } from "react";
import { dashboardKey } from "../calls/lists.ts";
import { ask, type CurrentUser } from "../calls/members.ts";
import { Refusal } from "../calls/refusal.ts";
import { showAnswer } from "../calls/rows.ts";

/** The signed-in member and account; null without a session. */
export const sessionQuery = queryOptions({
  queryKey: [dashboardKey, "session"],
  staleTime: 60_000,
  refetchOnWindowFocus: true,
  queryFn: async ({ signal }): Promise<CurrentUser | null> => {
    try {
      return await ask("GET /session", { signal });
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

/** Stores a new session and drops all data that an earlier session has read. */
export function beginSession(client: QueryClient, standing: CurrentUser): void {
  forget(client);
  showAnswer(client, sessionQuery.queryKey, standing);
}

/** Stores that the session has ended; every page of the dashboard then redirects to the sign-in page. */
export function sessionEnded(client: QueryClient): void {
  showAnswer(client, sessionQuery.queryKey, null);
  forget(client);
}

/** Signs out. Keeps the session if the call fails. @throws Refusal */
export async function signOut(client: QueryClient): Promise<void> {
  await ask("POST /sign-out");
  sessionEnded(client);
}

function forget(client: QueryClient): void {
  client.removeQueries({ queryKey: [dashboardKey], predicate: ({ queryKey }) => queryKey[1] !== sessionQuery.queryKey[1] });
}
