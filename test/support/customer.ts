import type { Domain } from "../../src/publishing/domains/domains.ts";
import type { Failure } from "./models.ts";
import type { Platform } from "./platform.ts";
import type { Reply } from "./service.ts";

/** A domain, or why there is none. */
export type DomainOrFailure = Omit<Domain, "status"> & Omit<Failure, "status" | "challenge"> & { status: unknown };

/** An account of its own with a deployed project, whose page says its slug; `page` is that page. */
export async function openCustomer(platform: Platform, slug: string, plan = "enterprise") {
  const { service } = platform;
  const { id, key } = await service.newAccount(plan);
  const page = `<h1>${slug}</h1>`;
  const project = await platform.project(slug, { "index.html": page }, { key });
  const path = `/projects/${project}/domains`;
  const ask = (method: string, below: string, body?: object): Promise<Reply<DomainOrFailure>> =>
    service.ask<DomainOrFailure>(method, `${path}${below}`, { key, ...(body && { body }) });
  return {
    id,
    key,
    page,
    project,
    add: (hostname: string) => ask("POST", "", { hostname }),
    verify: (hostname: string) => ask("POST", `/${hostname}/verify`),
    change: (hostname: string, body: object) => ask("PATCH", `/${hostname}`, body),
    remove: (hostname: string) => ask("DELETE", `/${hostname}`),
    get: (hostname: string) => ask("GET", `/${hostname}`),
    domain: (hostname: string) => platform.domain(project, hostname, key),
    /** Sets the record and adds the name; gives it once it is served, with its certificate. */
    async attach(hostname: string): Promise<Domain> {
      platform.dns.set(hostname, "CNAME", ["sites.test"]);
      await ask("POST", "", { hostname });
      await service.publishing.idle();
      return platform.domain(project, hostname, key);
    },
  };
}

export type Customer = Awaited<ReturnType<typeof openCustomer>>;

/** The codes of a domain's problems. */
export const codesOf = ({ problems }: Pick<Domain, "problems">): string[] => problems.map(({ code }) => code);
