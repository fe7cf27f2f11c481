import { limitRoutes, type LimitServices } from "../callers/limits/limits.routes.ts";
import { browserSessionRoutes } from "../callers/members/browser-sessions.routes.ts";
import { factorRoutes } from "../callers/members/factors.routes.ts";
import type { KeyServices } from "../callers/members/key-operations.ts";
import { keyRoutes, unbanRoutes } from "../callers/members/keys.routes.ts";
import { accountRoutes, memberRoutes, type MemberServices } from "../callers/members/members.routes.ts";
import { passkeyRoutes, type PasskeyServices } from "../callers/members/passkeys.routes.ts";
import { sessionRoutes } from "../callers/members/sessions.routes.ts";
import { signInRoutes } from "../callers/members/sign-in.routes.ts";
import { requestLogRoutes } from "../callers/usage/request-log.routes.ts";
import { usageRoutes, type UsageServices } from "../callers/usage/usage.routes.ts";
import { auditRoutes } from "../events/log/audit.routes.ts";
import { eventRoutes, type EventServices } from "../events/log/events.routes.ts";
import { orderHistoryRoutes } from "../events/log/order-history.routes.ts";
import { petHistoryRoutes } from "../events/log/pet-history.routes.ts";
import { deliveryRoutes } from "../events/webhooks/deliveries.routes.ts";
import { webhookRoutes, type WebhookServices } from "../events/webhooks/webhooks.routes.ts";
import type { DescribedOperation, Operation, Sunsets } from "../platform/http/operation.ts";
import type { DomainServices } from "../publishing/domains/domain-operations.ts";
import { domainRoutes } from "../publishing/domains/domains.routes.ts";
import { linkRoutes, type LinkServices } from "../publishing/domains/links.routes.ts";
import { deploymentRoutes } from "../publishing/projects/deployments.routes.ts";
import { projectRoutes, type ProjectServices } from "../publishing/projects/projects.routes.ts";
import { storefrontRoutes, type StorefrontServices } from "../publishing/projects/storefront.routes.ts";
import { binRoutes } from "../store/bin/bin.routes.ts";
import { categoryRoutes } from "../store/categories/categories.routes.ts";
import { contactRoutes } from "../store/contacts/contacts.routes.ts";
import { importRoutes } from "../store/imports/imports.routes.ts";
import { inventoryRoutes } from "../store/inventory/inventory.routes.ts";
import { petChangeRoutes } from "../store/inventory/pet-changes.routes.ts";
import { orderDetailRoutes } from "../store/order-details/order-details.routes.ts";
import { orderRoutes } from "../store/orders/orders.routes.ts";
import { insideNameRoutes } from "../store/pets/inside-names.routes.ts";
import { petRoutes } from "../store/pets/pets.routes.ts";
import { photoFetchRoutes, photoRoutes } from "../store/profiles/photos.routes.ts";
import type { ProfileServices } from "../store/profiles/profile-answers.ts";
import { profileRoutes } from "../store/profiles/profiles.routes.ts";
import type { PhotoFetchServices } from "../store/profiles/profiles.ts";
import { summaryRoutes } from "../store/profiles/summaries.routes.ts";
import { reservationPageRoutes, reservationRoutes } from "../store/reservations/reservations.routes.ts";
import { viewRoutes } from "../store/views/views.routes.ts";
import { figureRoutes } from "./figures.ts";
import type { Settings } from "./settings.ts";

/** The services of the publishing operations. */
export type PublishingServices = ProjectServices & StorefrontServices & DomainServices & ProfileServices;
/** The services of the API's operations. */
export type ApiServices = LimitServices &
  UsageServices &
  PublishingServices &
  EventServices &
  WebhookServices &
  KeyServices &
  PhotoFetchServices;
/** The services that only operations of the dashboard use, besides those of the API's operations. */
export type DashboardServices = LinkServices & PasskeyServices & MemberServices;

/** Every operation of the API, in the order of the description. */
export const apiOperations: Operation<ApiServices>[] = [
  ...petRoutes,
  ...profileRoutes,
  ...photoRoutes,
  ...categoryRoutes,
  ...orderRoutes,
  ...contactRoutes,
  ...reservationRoutes,
  ...inventoryRoutes,
  ...importRoutes,
  ...eventRoutes,
  ...limitRoutes,
  ...usageRoutes,
  ...keyRoutes,
  ...projectRoutes,
  ...deploymentRoutes,
  ...domainRoutes,
  ...webhookRoutes,
  ...deliveryRoutes,
];

/** The operations that only the dashboard calls: about the signed-in person, who else has access to the account, and many pets at once. */
export const dashboardOperations: Operation<DashboardServices & ApiServices>[] = [
  ...photoFetchRoutes,
  ...storefrontRoutes,
  ...linkRoutes,
  ...signInRoutes,
  ...sessionRoutes,
  ...browserSessionRoutes,
  ...factorRoutes,
  ...passkeyRoutes,
  ...memberRoutes,
  ...accountRoutes,
  ...unbanRoutes,
  ...requestLogRoutes,
  ...petChangeRoutes,
  ...binRoutes,
  ...insideNameRoutes,
  ...summaryRoutes,
  ...orderHistoryRoutes,
  ...petHistoryRoutes,
  ...orderDetailRoutes,
  ...reservationPageRoutes,
  ...figureRoutes,
  ...viewRoutes,
  ...auditRoutes,
];

/** The operations that agents call (specification 1.15). */
export const agentOperations: DescribedOperation[] = [
  ...apiOperations.filter(({ forAgents }) => forAgents !== false),
  ...dashboardOperations.filter(({ forAgents }) => forAgents),
];

/** When each deprecated operation ends. */
export function sunsetsOf({ getPetSunset }: Pick<Settings, "getPetSunset">): Sunsets {
  return { getPet: getPetSunset };
}
