import type { LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import { pageIcons } from "./page-icons.tsx";

type Target = NonNullable<LinkProps["to"]>;
/** A page in the navigation and the palette; `words` are further search terms. */
export type DashboardPage = {
  to: Target;
  group: keyof typeof texts.dashboard.groups;
  label: string;
  words: string[];
  icon: () => ReactNode;
};
/** An action of the palette: a page with the search parameters that open its form. */
export type DashboardAction = { to: Target; search: Record<string, unknown>; label: string; words: string[]; isOwners?: boolean };

/** In the order of the navigation. */
export const dashboardPages: readonly DashboardPage[] = [
  { to: "/dashboard", icon: pageIcons.home, group: "store", label: texts.home.page, words: texts.home.words },
  { to: "/dashboard/animals", icon: pageIcons.animals, group: "store", label: texts.store.animals.page, words: texts.store.animals.words },
  {
    to: "/dashboard/categories",
    icon: pageIcons.categories,
    group: "store",
    label: texts.store.categories.page,
    words: texts.store.categories.words,
  },
  { to: "/dashboard/orders", icon: pageIcons.orders, group: "store", label: texts.store.orders.page, words: texts.store.orders.words },
  {
    to: "/dashboard/inventory",
    icon: pageIcons.inventory,
    group: "store",
    label: texts.store.inventory.page,
    words: texts.store.inventory.words,
  },
  { to: "/dashboard/import", icon: pageIcons.import, group: "store", label: texts.importing.page, words: texts.importing.words },
  { to: "/dashboard/projects", icon: pageIcons.projects, group: "publishing", label: texts.projects.page, words: texts.projects.words },
  { to: "/dashboard/domains", icon: pageIcons.domains, group: "publishing", label: texts.domains.title, words: texts.domains.words },
  { to: "/dashboard/usage", icon: pageIcons.usage, group: "access", label: texts.usage.page, words: texts.usage.words },
  { to: "/dashboard/keys", icon: pageIcons.keys, group: "access", label: texts.keys.page, words: texts.keys.words },
  {
    to: "/dashboard/webhooks",
    icon: pageIcons.webhooks,
    group: "access",
    label: texts.dashboard.webhooks.page,
    words: texts.dashboard.webhooks.words,
  },
  {
    to: "/dashboard/activity",
    icon: pageIcons.activity,
    group: "access",
    label: texts.dashboard.activity.page,
    words: texts.dashboard.activity.words,
  },
  { to: "/dashboard/account", icon: pageIcons.account, group: "access", label: texts.account.page, words: texts.account.words },
];

/** The page of the navigation that an address belongs to. */
export function pageAt(pathname: string): Target | undefined {
  return dashboardPages.find(({ to }) => pathname.replace(/\/$/, "") === to || (to !== "/dashboard" && pathname.startsWith(`${to}/`)))?.to;
}

export const dashboardActions: readonly DashboardAction[] = [
  { to: "/dashboard/keys", search: { create: true }, label: texts.keys.create, words: texts.keys.words, isOwners: true },
  { to: "/dashboard/account", search: { invite: true }, label: texts.account.invite, words: texts.account.inviteWords, isOwners: true },
  { to: "/dashboard/animals", search: { new: true }, label: texts.store.animals.new, words: texts.store.animals.words },
  { to: "/dashboard/categories", search: { new: true }, label: texts.store.categories.new, words: texts.store.categories.words },
  { to: "/dashboard/orders", search: { new: true }, label: texts.store.orders.new, words: texts.store.orders.words },
  { to: "/dashboard/inventory", search: { new: true }, label: texts.store.inventory.new, words: texts.store.inventory.words },
  { to: "/dashboard/import", search: {}, label: texts.importing.action, words: texts.importing.words },
  { to: "/dashboard/animals", search: { export: true }, label: texts.importing.export.title, words: texts.importing.export.words },
  { to: "/dashboard/webhooks", search: { new: true }, label: texts.dashboard.webhooks.new, words: texts.dashboard.webhooks.words },
  { to: "/dashboard/projects", search: { new: true }, label: texts.projects.new, words: texts.projects.words },
];
