import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Command } from "../frame/palette.tsx";
import { notifyError } from "../parts/notices.ts";
import { texts } from "../texts/texts.ts";
import { dashboardActions, dashboardPages } from "./pages.tsx";
import { sessionQuery, signOut } from "./session.ts";

/** The dashboard's pages and actions for the command palette; without a session only the pages, which redirect to the sign-in page. */
export function useDashboardCommands(): Command[] {
  const client = useQueryClient();
  const { data: session } = useQuery({ ...sessionQuery, enabled: false });
  const navigate = useNavigate();
  return useMemo(() => {
    const command = (id: string, label: string, words: string[], run: () => void): Command => {
      return { id, group: texts.dashboard.page, label, hint: null, texts: [label, ...words], run };
    };
    const pages = dashboardPages.map(({ to, label, words }) => command(to, label, words, () => void navigate({ to })));
    if (!session) return pages;
    const isOwner = session.member.role === "owner";
    const actions = dashboardActions
      .filter(({ isOwners }) => isOwner || !isOwners)
      // `pages` pairs each page with its own search parameters
      .map(({ to, search, label, words }) => command(label, label, words, () => void navigate({ to, search: search as never })));
    const { add, words } = texts.dashboard.accounts;
    const addAccount = command("add-account", add, words, () => void navigate({ to: "/sign-in", search: { add: true } }));
    return [
      ...pages,
      ...actions,
      addAccount,
      command("sign-out", texts.dashboard.signOut, [], () => void signOut(client).catch(notifyError)),
    ];
  }, [client, session, navigate]);
}
