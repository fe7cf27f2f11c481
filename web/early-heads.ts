import { activityTexts } from "./texts/en-activity.ts";
import { animalTexts } from "./texts/en-animal.ts";
import { binTexts } from "./texts/en-bin.ts";
import { domainsTexts } from "./texts/en-domains.ts";
import { reservationsTexts } from "./texts/en-reservations.ts";
import { shopTexts } from "./texts/en-shop.ts";
import { webhooksTexts } from "./texts/en-webhooks.ts";
import { texts } from "./texts/texts.ts";

export type EarlyHead = { title: string; lead: string };

const { home, importing, projects, usage, keys, account } = texts;
const { categories, orders, inventory } = texts.store;
const { webhooks, activity } = texts.dashboard;

/**
 * The titles and leads that the service sends with a page, by the page's address. A project's page gets a general title, because its real
 * title is the project's name, which is not known here.
 */
export const earlyHeads: Record<string, EarlyHead> = {
  "/dashboard": { title: home.page, lead: home.lead },
  "/dashboard/animals": { title: texts.store.animals.page, lead: texts.store.animals.lead },
  "/dashboard/animals/new": { title: texts.store.animals.new, lead: animalTexts.all },
  "/dashboard/animals/bin": { title: texts.store.animals.bin, lead: binTexts.lead },
  "/dashboard/animals/:animalId": { title: texts.store.animals.page, lead: animalTexts.all },
  "/dashboard/categories": { title: categories.page, lead: categories.lead },
  "/dashboard/orders": { title: orders.page, lead: orders.lead },
  "/dashboard/reservations": { title: texts.store.reservations.page, lead: reservationsTexts.lead },
  "/dashboard/inventory": { title: inventory.page, lead: inventory.lead },
  "/dashboard/import": { title: importing.page, lead: importing.lead },
  "/dashboard/projects": { title: projects.page, lead: projects.lead },
  "/dashboard/projects/:projectId": { title: shopTexts.title, lead: shopTexts.lead },
  "/dashboard/projects/:projectId/shop": { title: shopTexts.title, lead: shopTexts.lead },
  "/dashboard/projects/:projectId/versions": { title: projects.deployments, lead: projects.list.lead },
  "/dashboard/projects/:projectId/settings": { title: projects.settings, lead: projects.naming.lead },
  "/dashboard/projects/:projectId/domains": { title: domainsTexts.title, lead: domainsTexts.lead },
  "/dashboard/usage": { title: usage.page, lead: usage.lead },
  "/dashboard/keys": { title: keys.page, lead: keys.lead },
  "/dashboard/webhooks": { title: webhooks.page, lead: webhooksTexts.lead },
  "/dashboard/account": { title: account.page, lead: account.lead },
  "/dashboard/activity": { title: activity.page, lead: activityTexts.lead },
};
