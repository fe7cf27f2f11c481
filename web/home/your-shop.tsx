import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Waiting } from "../frame/waiting.tsx";
import { Section } from "../parts/page-header.tsx";
import type { Project } from "../projects/queries.ts";
import { deviceHere, ShopFrame } from "../projects/shop-frame.tsx";
import { previewQuery } from "../projects/shop-queries.ts";
import { shopValues } from "../projects/shop.ts";
import { SiteLink } from "../projects/site-link.tsx";
import { shopQuery } from "../projects/storefront.ts";
import { texts } from "../texts/texts.ts";

/** The way to a published project, and the first page of its shop as visitors see it. Members who may not change the shop see only the way. */
export default function YourShop({ project: { id, name, url, deploymentId } }: { project: Project }): ReactNode {
  const shop = useQuery(shopQuery(id, deploymentId));
  const settings = shop.data?.settings ?? null;
  const page = useQuery({ ...previewQuery(id, deploymentId, shopValues(name, settings)), enabled: settings !== null });
  const actions = (
    <>
      <SiteLink url={url} />
      {settings !== null && (
        <Link to="/dashboard/projects/$projectId/shop" params={{ projectId: String(id) }}>
          {texts.home.changeShop}
        </Link>
      )}
    </>
  );
  return (
    <Section title={texts.home.shop} actions={actions}>
      {(shop.isLoading || page.isLoading) && <Waiting lines={9} />}
      {page.data !== undefined && <ShopFrame html={page.data} device={deviceHere()} />}
    </Section>
  );
}
