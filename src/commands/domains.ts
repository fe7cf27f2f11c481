import type { Schemas } from "../../client/api.gen.ts";
import type { PetStore } from "../../client/client.ts";
import { pages } from "../../client/pages.ts";
import { answered, projectBySlug, unlessExists } from "./calls.ts";
import { columns, ifNotExists, UsageError, type Arguments, type Command, type Io, type Options, type Outcome } from "./command.ts";
import { clientOf, connectionOptions } from "./connection.ts";

type Domain = Schemas["Domain"];
type ProjectPlace = { client: PetStore; projectId: number };

const options = {
  project: { value: "SLUG", required: true, about: "the project of the domain" },
  ...connectionOptions,
} as const satisfies Options;

const redirectOptions: Options = {
  to: { value: "HOSTNAME", about: "the domain that visitors are sent to" },
  status: { value: "301|302|307|308", about: "the status of the redirect. Default: 301" },
  off: { about: "end the redirect" },
};
const redirectStatuses = [301, 302, 307, 308] as const;

export const domainCommands: Command[] = [
  onDomain("add", "Add a domain to a project and print the DNS record to create", add, ifNotExists),
  {
    name: "domains list",
    summary: "List the domains of a project",
    options,
    async run(args, io) {
      const { client, projectId } = await open(args, io);
      const domains = await listOf(client, projectId);
      return { json: { domains }, text: [tableOf(domains), ...domains.flatMap(troubleOf)].join("\n") };
    },
  },
  onDomain(
    "check",
    "Check a domain's DNS now and print what visitors get; the exit code is 1 if the domain is not verified, has a problem, or still lacks a certificate that the service orders",
    async ({ client, projectId }, hostname) => {
      const params = { path: { projectId, hostname } };
      const domain = await answered(client.POST("/projects/{projectId}/domains/{hostname}/verify", { params }));
      const isSecured = domain.certificate.status === "issued" || hasNoAuthority(domain);
      const isServed = domain.status === "verified" && isSecured && domain.problems.length === 0;
      return { json: domain, text: diagnosis(domain), exitCode: isServed ? 0 : 1 };
    },
  ),
  onDomain("primary", "Make a verified domain the primary name of its project; --off undoes this", makePrimary, {
    off: { about: "the project then has no primary name" },
  }),
  onDomain(
    "redirect",
    "Redirect a domain to another one of the project, or with --off serve the site again",
    redirectTo,
    redirectOptions,
    checkRedirect,
  ),
  onDomain("remove", "Stop serving a domain at once", async ({ client, projectId }, hostname) => {
    const params = { path: { projectId, hostname } };
    const removed = await answered(client.DELETE("/projects/{projectId}/domains/{hostname}", { params }));
    return { json: removed ?? { hostname }, text: [`${hostname} is removed.`, ...leftBy(removed)].join(" ") };
  }),
];

type Work = (at: ProjectPlace, hostname: string, given: Arguments["options"]) => Promise<Outcome>;
/** A command on one domain. `check` runs before anything is sent. */
function onDomain(word: string, summary: string, run: Work, more: Options = {}, check = (_given: Arguments["options"]) => {}): Command {
  return {
    name: `domains ${word}`,
    summary,
    options: { ...options, ...more },
    operands: ["HOSTNAME"],
    async run(args, io) {
      check(args.options);
      return run(await open(args, io), args.operands[0] ?? "", args.options);
    },
  };
}

function checkRedirect({ to, off, status = "301" }: Arguments["options"]): void {
  if ((to === undefined) !== (off === true)) throw new UsageError("give either --to HOSTNAME or --off");
  if (!redirectStatuses.some((known) => String(known) === status))
    throw new UsageError(`--status must be one of ${redirectStatuses.join(", ")}`);
}

async function redirectTo(at: ProjectPlace, hostname: string, { to, off, status = "301" }: Arguments["options"]): Promise<Outcome> {
  const known = redirectStatuses.find((one) => String(one) === status) ?? 301;
  const domain = await patch(at, hostname, { redirect: off === true ? null : { to: String(to), status: known } });
  const text = domain.redirect ? `redirects to ${domain.redirect.to} (${domain.redirect.status})` : "no longer redirects";
  return { json: domain, text: [`${domain.hostname} ${text}. ${servingOf(domain)}`, ...troubleOf(domain)].join("\n") };
}

async function makePrimary(at: ProjectPlace, hostname: string, { off }: Arguments["options"]): Promise<Outcome> {
  const domain = await patch(at, hostname, { primary: off !== true });
  return {
    json: domain,
    text: `${domain.hostname} is ${domain.primary ? "the primary name" : "not the primary name"} of its project.`,
  };
}

async function add({ client, projectId }: ProjectPlace, hostname: string, given: Arguments["options"]): Promise<Outcome> {
  const path = { projectId, hostname };
  const create = () => answered(client.POST("/projects/{projectId}/domains", { params: { path: { projectId } }, body: { hostname } }));
  if (given["if-not-exists"] !== true) {
    const domain = await create();
    return { json: domain, text: `${domain.hostname} is added. ${toCreate(domain)}` };
  }
  const find = () => answered(client.GET("/projects/{projectId}/domains/{hostname}", { params: { path } }));
  const { created, found } = await unlessExists(create, "domain_taken", find);
  return { json: { ...found, created }, text: created ? `${hostname} is added. ${toCreate(found)}` : `${hostname} exists already.` };
}

function patch({ client, projectId }: ProjectPlace, hostname: string, body: Schemas["DomainPatch"]): Promise<Domain> {
  return answered(client.PATCH("/projects/{projectId}/domains/{hostname}", { params: { path: { projectId, hostname } }, body }));
}

function tableOf(domains: Domain[]): string {
  const rows = domains.map(({ hostname, status, certificate, primary, redirect, serving }) => [
    hostname,
    status,
    certificate.status,
    certificate.expiresAt,
    primary ? "yes" : "",
    redirect && `${redirect.status} ${redirect.to}`,
    serving.what === "redirect" ? `redirect to ${serving.to}` : serving.what,
  ]);
  return columns(["HOSTNAME", "STATUS", "CERTIFICATE", "EXPIRES", "PRIMARY", "REDIRECT", "VISITORS GET"], rows);
}

/** The problems of a domain, printed below the table. */
function troubleOf({ problems }: Domain): string[] {
  return problems.flatMap(({ message, fix }) => ["", message, `  ${fix}`]);
}

/** The consequences of a removal that a person must know about. */
function leftBy(removed: Schemas["RemovedDomain"] | undefined): string[] {
  if (removed === undefined) return [];
  const { warning, redirects } = removed;
  const left = warning === undefined ? [] : [warning];
  if (redirects.length > 0) left.push(`These domains redirected to it and serve the site now: ${redirects.join(", ")}.`);
  return left;
}

async function open(args: Arguments, io: Io): Promise<ProjectPlace> {
  const client = await clientOf(args.options, io);
  const { id } = await projectBySlug(client, String(args.options["project"]));
  return { client, projectId: id };
}

async function listOf(client: PetStore, projectId: number): Promise<Domain[]> {
  const domains: Domain[] = [];
  for await (const page of pages(client, "/projects/{projectId}/domains", {}, { projectId })) domains.push(...page);
  return domains;
}

function toCreate(domain: Domain): string {
  const lines = [`Create ${domain.challenge ? "these records" : "this record"} at your registrar:`, recordsOf(domain)];
  if (domain.kind === "apex")
    lines.push("Some DNS providers call ALIAS ANAME, and some do not support it. If yours does not, add a subdomain instead.");
  if (domain.challenge) lines.push("Another account has used a name of this domain: create the TXT record to prove that it is yours.");
  return lines.join("\n");
}

/** Names as registrars expect them: without the domain, which most registrars add. */
function recordsOf({ hostname, record, challenge }: Domain): string {
  const rows = [[record.type, record.name, record.value, record.ttl]];
  const domain = record.name === "@" ? hostname : hostname.slice(record.name.length + 1);
  if (challenge) rows.push([challenge.type, challenge.name.slice(0, -domain.length - 1), challenge.value, record.ttl]);
  return columns(["TYPE", "NAME", "VALUE", "TTL"], rows);
}

/** Whether the service orders no certificates: otherwise a verified domain always has one ordered or issued. */
function hasNoAuthority({ status, certificate }: Domain): boolean {
  return status === "verified" && certificate.status === "none";
}

function diagnosis(domain: Domain): string {
  const { hostname, status, certificate, problems, attention, nextCheckAt } = domain;
  const lines = [`${hostname}: ${status}, certificate ${certificate.status}`, servingOf(domain)];
  if (hasNoAuthority(domain))
    lines.push("", "This service orders no certificates (ACME_DIRECTORY_URL is not set), so the domain is served over HTTP.");
  lines.push(...troubleOf(domain));
  if (certificate.problem !== null) {
    const nextTry = certificate.retryAt === null ? "No next try is planned yet." : `The next try is at ${certificate.retryAt}.`;
    lines.push("", certificate.problem, `  ${nextTry}`);
  }
  if (attention) lines.push("", attention.message);
  if (problems.length > 0 && status !== "verified") lines.push("", nextLook(nextCheckAt));
  return lines.join("\n");
}

/** What visitors get now, with the reason. */
function servingOf({ serving: { what, to, reason } }: Domain): string {
  const visitors = { site: "Visitors get the site.", redirect: `Visitors are redirected to ${to}.`, nothing: "Visitors get nothing." }[
    what
  ];
  return `${visitors} ${reason}`;
}

function nextLook(nextCheckAt: string | null): string {
  if (nextCheckAt === null) return "The service no longer checks it automatically. Run this command to check it again.";
  return `The service checks it again at ${nextCheckAt}.`;
}
