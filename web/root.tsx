import { createRootRoute, lazyRouteComponent, Outlet } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { NotFoundPage } from "./frame/message-page.tsx";
import { Shell } from "./frame/shell.tsx";
import { NoticeList } from "./parts/notice-list.tsx";
import { KeyOfferContext, type KeyOfferProps } from "./reference/try-it/key-offer.ts";
import { texts } from "./texts/texts.ts";

/** The root route. */
export const root = createRootRoute({ component: Root, notFoundComponent: () => <NotFoundPage /> });

const links = [
  { to: "/dashboard" as const, label: texts.dashboard.page },
  { to: "/reference" as const, label: texts.reference },
];

const KeyOffer = lazyRouteComponent(() => import("./keys/key-offer.tsx"), "KeyOffer");
const offerKey = (props: KeyOfferProps) => <KeyOffer {...props} />;

const palette = async () => (await import("./dashboard/palette.tsx")).EveryPalette;

function Root(): ReactNode {
  return (
    <Shell links={links} palette={palette}>
      <NoticeList />
      <KeyOfferContext value={offerKey}>
        <Outlet />
      </KeyOfferContext>
    </Shell>
  );
}
