import { limitRoutes, type LimitServices } from "../callers/limits/limits.routes.ts";
import { keyRoutes, type KeyServices } from "../callers/members/keys.routes.ts";
import { memberRoutes, type MemberServices } from "../callers/members/members.routes.ts";
import { sessionRoutes } from "../callers/members/sessions.routes.ts";
import { signInRoutes, type SignInServices } from "../callers/members/sign-in.routes.ts";
import { usageRoutes, type UsageServices } from "../callers/usage/usage.routes.ts";
import { describe, type Description } from "../platform/http/description.ts";
import type { Operation, Sunsets } from "../platform/http/operation.ts";
import { domainRoutes, type DomainServices } from "../publishing/domains/domains.routes.ts";
import { deploymentRoutes, type DeploymentServices } from "../publishing/projects/deployments.routes.ts";
import { projectRoutes, type ProjectServices } from "../publishing/projects/projects.routes.ts";
import { categoryRoutes } from "../store/categories/categories.routes.ts";
import { inventoryRoutes } from "../store/inventory/inventory.routes.ts";
import { orderRoutes } from "../store/orders/orders.routes.ts";
import { petRoutes } from "../store/pets/pets.routes.ts";
import errorExamples from "./error-examples.json" with { type: "json" };
import type { Settings } from "./settings.ts";

/** What the publishing operations need at run time. */
export type PublishingServices = ProjectServices & DeploymentServices & DomainServices;
/** What the operations of the API need at run time. */
export type ApiServices = LimitServices & UsageServices & PublishingServices;
/** What the operations that only the dashboard calls need at run time. */
export type DashboardServices = SignInServices & MemberServices & KeyServices;

/** Every operation of the API, in the order of the description. */
export const apiOperations: Operation<ApiServices>[] = [
  ...petRoutes,
  ...categoryRoutes,
  ...orderRoutes,
  ...inventoryRoutes,
  ...limitRoutes,
  ...usageRoutes,
  ...projectRoutes,
  ...deploymentRoutes,
  ...domainRoutes,
];

/** The operations that only the dashboard calls: about the signed-in person, and about who else has access to the account. */
export const dashboardOperations: Operation<DashboardServices>[] = [...signInRoutes, ...sessionRoutes, ...memberRoutes, ...keyRoutes];

/** When each deprecated operation ends. */
export function sunsetsOf({ getPetSunset }: Pick<Settings, "getPetSunset">): Sunsets {
  return { getPet: getPetSunset };
}

/** The description of the API as a service with these settings serves it. */
export function descriptionOf(settings: Pick<Settings, "getPetSunset">): Description {
  return describe(apiOperations, { errors: errorExamples, sunsets: sunsetsOf(settings) });
}
