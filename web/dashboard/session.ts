import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { createContext, use } from "react";
import { dashboardKey } from "../calls/lists.ts";
import { ask, type CurrentUser } from "../calls/members.ts";
import { Refusal } from "../calls/refusal.ts";
import { showAnswer } from "../calls/rows.ts";

/** Who is signed in; null where nobody is. */
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

/** Who is signed in, on every page of the dashboard. */
export function useSession(): CurrentUser & { isOwner: boolean } {
  const standing = use(SessionContext);
  if (!standing) throw new Error("This part stands outside the dashboard's frame.");
  return { ...standing, isOwner: standing.member.role === "owner" };
}

/** Notes who has signed in: what somebody else had seen before is forgotten. */
export function beginSession(client: QueryClient, standing: CurrentUser): void {
  forget(client);
  showAnswer(client, sessionQuery.queryKey, standing);
}

/** Notes that nobody is signed in any more, which leads from every page of the dashboard to signing in. */
export function sessionEnded(client: QueryClient): void {
  showAnswer(client, sessionQuery.queryKey, null);
  forget(client);
}

/** Signs out. What cannot be told to the service keeps the session, and is raised. @throws Refusal */
export async function signOut(client: QueryClient): Promise<void> {
  await ask("POST /sign-out");
  sessionEnded(client);
}

function forget(client: QueryClient): void {
  client.removeQueries({ queryKey: [dashboardKey], predicate: ({ queryKey }) => queryKey[1] !== sessionQuery.queryKey[1] });
}
