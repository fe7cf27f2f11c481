import { createRootRoute, Outlet } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useDashboardCommands } from "./dashboard/commands.ts";
import { NotFoundPage } from "./frame/message-page.tsx";
import { Shell } from "./frame/shell.tsx";
import { NoticeList } from "./parts/notice-list.tsx";
import { useReferenceCommands } from "./reference/commands.tsx";
import { texts } from "./texts/texts.ts";

/** The root route. */
export const root = createRootRoute({ component: Root, notFoundComponent: () => <NotFoundPage /> });

const links = [
  { to: "/dashboard" as const, label: texts.dashboard.page },
  { to: "/reference" as const, label: texts.reference.page },
];

function Root(): ReactNode {
  const dashboard = useDashboardCommands();
  const reference = useReferenceCommands();
  return (
    <Shell links={links} commands={[...dashboard, ...reference]}>
      <Outlet />
      <NoticeList />
    </Shell>
  );
}
