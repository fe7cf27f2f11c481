import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Outlet, useRouter } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { Refusal } from "../calls/refusal.ts";
import { onSignedOut } from "../calls/send.ts";
import { FailurePage } from "../frame/message-page.tsx";
import { WithSidebar } from "../frame/sidebar.tsx";
import { Waiting } from "../frame/waiting.tsx";
import { texts } from "../texts/texts.ts";
import { PasswordConfirmation } from "./confirm-password.tsx";
import { Navigation } from "./navigation.tsx";
import { SessionContext, sessionEnded, sessionQuery } from "./session.ts";

/** How often the session is read again while the page is visible, in case its plan or role has changed. */
const standingEveryMs = 60_000;

/** The frame of all dashboard pages, with the navigation. Redirects to the sign-in page without a session or a password. */
export function DashboardFrame(): ReactNode {
  const client = useQueryClient();
  const { data: session, isError, error, refetch } = useQuery({ ...sessionQuery, refetchInterval: standingEveryMs });
  useEffect(() => onSignedOut(() => sessionEnded(client)), [client]);

  if (session === null || session?.member.hasPassword === false) return <ToSignIn />;
  if (!session && isError) {
    const requestId = error instanceof Refusal ? error.requestId : undefined;
    return <FailurePage text={error.message} requestId={requestId} onRetry={() => void refetch()} />;
  }
  return (
    <WithSidebar label={texts.dashboard.menu} navigation={session ? <Navigation session={session} /> : <Waiting lines={9} />}>
      {session ? (
        <SessionContext value={session}>
          <Outlet />
          <PasswordConfirmation member={session.member} />
        </SessionContext>
      ) : (
        <Waiting lines={6} />
      )}
    </WithSidebar>
  );
}

/** Redirects to the sign-in page, which returns to the current page afterwards. */
function ToSignIn(): ReactNode {
  const router = useRouter();
  useEffect(() => {
    void router.navigate({ to: "/sign-in", search: { to: router.state.location.href }, replace: true });
  }, [router]);
  return null;
}
