import { useQuery } from "@tanstack/react-query";
import { createRootRoute, Outlet } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { useDashboardCommands } from "./dashboard/commands.ts";
import { useFound } from "./dashboard/found.ts";
import { NotFoundPage } from "./frame/message-page.tsx";
import { Shell } from "./frame/shell.tsx";
import { NoticeList } from "./parts/notice-list.tsx";
import { useReferenceCommands } from "./reference/commands.tsx";
import { descriptionQuery } from "./reference/load.ts";
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
  const [query, setQuery] = useState("");
  const shop = useFound(query);
  const { isFetching } = useQuery(descriptionQuery);
  const searched = { ...shop, isSearching: shop.isSearching || isFetching };
  return (
    <Shell links={links} searched={{ ...searched, query, onQuery: setQuery, commands: [...dashboard, ...reference] }}>
      <Outlet />
      <NoticeList />
    </Shell>
  );
}
