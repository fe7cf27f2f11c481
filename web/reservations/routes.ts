import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { dashboard } from "../dashboard/route.ts";
import { reservationSearch } from "./search.ts";

const reservations = createRoute({
  getParentRoute: () => dashboard,
  path: "reservations",
  validateSearch: reservationSearch,
  component: lazyRouteComponent(() => import("./reservations-page.tsx"), "ReservationsPage"),
});

export const reservationRoutes = [reservations] as const;
