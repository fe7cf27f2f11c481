import type { LinkProps } from "@tanstack/react-router";
import { texts } from "../texts/texts.ts";

type Target = NonNullable<LinkProps["to"]>;
/** A page of the navigation and of the palette; `words` are what else it is found by. */
export type DashboardPage = { to: Target; group: keyof typeof texts.dashboard.groups; label: string; words: string[] };
/** Something that the palette begins: a page with the search that opens its form. */
export type DashboardAction = { to: Target; search: Record<string, unknown>; label: string; words: string[]; isOwners?: boolean };

/** In the order of the navigation. */
export const dashboardPages: readonly DashboardPage[] = [
  { to: "/dashboard/account", group: "access", label: texts.account.page, words: ["members", "password", "sessions", "plan"] },
];

export const dashboardActions: readonly DashboardAction[] = [];

/** Where `/dashboard` itself leads. */
export const firstPage: Target = "/dashboard/account";
