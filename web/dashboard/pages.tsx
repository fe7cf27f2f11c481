import type { LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { icon } from "../frame/icons.tsx";
import { texts } from "../texts/texts.ts";

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

const pageIcons = {
  home: icon(<path d="M3 9.500 10 3.500l7 6M5 8.500V16.500h10V8.500M8.500 16.500v-4h3v4" />),
  animals: icon(
    <path d="M5.200 10.800v.01M8 6.500v.01M12 6.500v.01M14.800 10.800v.01M10 10.500c2 0 3.800 2.200 3.800 4 0 1.300-1.100 1.700-2.100 1.700-.7 0-1-.3-1.700-.3s-1 .3-1.700.3c-1 0-2.100-.4-2.100-1.700 0-1.800 1.800-4 3.800-4Z" />,
  ),
  categories: icon(<path d="M3 4h5.500l8 8-5.500 5.500-8-8V4Zm3.300 3.300h.01" />),
  orders: icon(<path d="M4 7h12l1 10H3L4 7Zm3 3V6a3 3 0 0 1 6 0v4" />),
  reservations: icon(<path d="M6 3h8v14l-4-3.500L6 17V3Zm2.500 4h3" />),
  inventory: icon(<path d="M3 6.500 10 3l7 3.500v7L10 17l-7-3.500v-7Zm0 0 7 3.500m0 0 7-3.500M10 10v7" />),
  import: icon(<path d="M10 3v9.500M6.500 9.500 10 13l3.500-3.500M3 14v3h14v-3" />),
  projects: icon(<path d="M3 4h14v12H3V4Zm0 4h14M5.500 6h.01M8 6h.01" />),
  domains: icon(<path d="M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM3 10h14M10 3c2 2 3 4.500 3 7s-1 5-3 7c-2-2-3-4.500-3-7s1-5 3-7Z" />),
  usage: icon(<path d="M4 17V10m4 7V5m4 12v-5m4 5V7" />),
  keys: icon(<path d="M7 13.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7Zm3.500-3.500H17v3m-3-3v2" />),
  webhooks: icon(<path d="M4 10a6 6 0 0 1 10.500-4M16 10A6 6 0 0 1 5.500 14M14.800 3v3.200h-3.200M5.200 17v-3.200h3.200" />),
  activity: icon(<path d="M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm0-11v4l2.800 2" />),
  account: icon(<path d="M10 10a3.200 3.200 0 1 0 0-6.500 3.200 3.200 0 0 0 0 6.500ZM3.500 17a6.500 6.500 0 0 1 13 0" />),
};

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
    to: "/dashboard/reservations",
    icon: pageIcons.reservations,
    group: "store",
    label: texts.store.reservations.page,
    words: texts.store.reservations.words,
  },
  {
    to: "/dashboard/inventory",
    icon: pageIcons.inventory,
    group: "store",
    label: texts.store.inventory.page,
    words: texts.store.inventory.words,
  },
  { to: "/dashboard/import", icon: pageIcons.import, group: "store", label: texts.importing.page, words: texts.importing.words },
  { to: "/dashboard/projects", icon: pageIcons.projects, group: "publishing", label: texts.projects.page, words: texts.projects.words },
  {
    to: "/dashboard/domains",
    icon: pageIcons.domains,
    group: "publishing",
    label: texts.dashboard.domains.page,
    words: texts.dashboard.domains.words,
  },
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
  { to: "/dashboard/animals/new", search: {}, label: texts.store.animals.new, words: texts.store.animals.words },
  { to: "/dashboard/categories", search: { new: true }, label: texts.store.categories.new, words: texts.store.categories.words },
  { to: "/dashboard/orders", search: { new: true }, label: texts.store.orders.new, words: texts.store.orders.words },
  { to: "/dashboard/inventory", search: { new: true }, label: texts.store.inventory.new, words: texts.store.inventory.words },
  { to: "/dashboard/import", search: {}, label: texts.importing.action, words: texts.importing.words },
  { to: "/dashboard/animals", search: { export: true }, label: texts.importing.export.title, words: texts.importing.export.words },
  { to: "/dashboard/webhooks", search: { new: true }, label: texts.dashboard.webhooks.new, words: texts.dashboard.webhooks.words },
  { to: "/dashboard/projects", search: { new: true }, label: texts.projects.new, words: texts.projects.words },
];
