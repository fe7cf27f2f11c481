import type { Project } from "../../src/publishing/projects/projects.ts";
import { openCustomer, type Customer } from "./customer.ts";
import type { Platform } from "./platform.ts";
import { made } from "./shop.ts";

/** A shop whose project has two verified names in a zone, `www` and `old`. */
export type NamedShop = { zone: string; shop: Customer };

export async function openNamedShop(platform: Platform, slug: string): Promise<NamedShop> {
  const zone = `${slug}.test`;
  const shop = await openCustomer(platform, slug, "pro");
  await shop.attach(`www.${zone}`);
  await shop.attach(`old.${zone}`);
  return { zone, shop };
}

/** The shop of a test, as its visitors and its owner see it. */
export function viewsOf(current: () => { platform: Platform; shop: Customer }) {
  return {
    page: async (host: string): Promise<string> => (await current().platform.https(host, "/")).body,
    config: (): Promise<Project> => {
      const { platform, shop } = current();
      return made<Project>(platform.service, "GET", `/projects/${shop.project}`, undefined, shop.key);
    },
    deploy: (petstore: object, text = current().shop.page) => {
      const { platform, shop } = current();
      return platform.deploy(shop.project, { "index.html": text }, { key: shop.key, petstore });
    },
    /** The status of an answer, and where it sends the visitor, without the port. */
    locationOf: async (host: string) => {
      const { status, headers } = await current().platform.https(host, "/a?b=c");
      return [status, headers.location?.replace(/:\d+\//, "/")];
    },
  };
}
