import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Outlet, useRouter } from "@tanstack/react-router";
import { useEffect, type ReactNode } from "react";
import { pageMember } from "../calls/page-member.ts";
import { onSessionLost } from "../calls/send.ts";
import { FailurePage } from "../frame/message-page.tsx";
import { WithSidebar } from "../frame/sidebar.tsx";
import { Waiting } from "../frame/waiting.tsx";
import { explain } from "../parts/explained.ts";
import { texts } from "../texts/texts.ts";
import { DisabledNotice } from "../webhooks/disabled-notice.tsx";
import { webhooksQuery } from "../webhooks/queries.ts";
import { PasswordConfirmation } from "./confirm-password.tsx";
import { Navigation } from "./navigation.tsx";
import { SessionContext, sessionEnded, sessionQuery } from "./session.ts";
import { loadPage, onTabsMember } from "./tabs.ts";

/** How often the session is reread while the page is visible, in case its plan or role has changed. */
const sessionEveryMs = 60_000;

/** The frame of all dashboard pages, with the navigation. Redirects to the sign-in page without a session or a password. */
export function DashboardFrame(): ReactNode {
  const client = useQueryClient();
  const { data: session, isError, error, refetch } = useQuery({ ...sessionQuery, refetchInterval: sessionEveryMs });
  // read at the same time as the session, so that the notice about webhooks is there before the page below it
  const { isFetched: knowsWebhooks } = useQuery({ ...webhooksQuery, enabled: session !== null, retry: false });
  useEffect(() => onSessionLost((ending) => (ending === "signed-out" ? sessionEnded(client) : loadPage())), [client]);
  useEffect(() => {
    return onTabsMember((member) => {
      if (member === null) sessionEnded(client);
      else if (member !== pageMember()) loadPage();
    });
  }, [client]);
  useEffect(() => {
    addEventListener("pageshow", reloadIfRestored);
    return () => removeEventListener("pageshow", reloadIfRestored);
  }, []);

  if (session === null || session?.member.hasPassword === false) return <ToSignIn />;
  if (!session && isError) {
    const { message = error.message, requestId } = explain(error);
    return <FailurePage text={message} requestId={requestId} onRetry={() => void refetch()} />;
  }
  return (
    <WithSidebar label={texts.dashboard.menu} navigation={session ? <Navigation session={session} /> : <Waiting lines={9} />}>
      {session && knowsWebhooks ? (
        <SessionContext value={session}>
          <DisabledNotice />
          <Outlet />
          <PasswordConfirmation member={session.member} />
        </SessionContext>
      ) : (
        <Waiting lines={6} />
      )}
    </WithSidebar>
  );
}

/** The browser's "Back" may restore a page from memory, with an account that is no longer the current one. */
function reloadIfRestored({ persisted }: PageTransitionEvent): void {
  if (persisted) location.reload();
}

/** Redirects to the sign-in page, which returns to the current page afterwards. */
function ToSignIn(): ReactNode {
  const router = useRouter();
  useEffect(() => {
    void router.navigate({ to: "/sign-in", search: { to: router.state.location.href }, replace: true });
  }, [router]);
  return null;
}
