import { columns, type Arguments, type Command, type Outcome } from "./command.ts";
import { connectionOf, connectionOptions, type Connect } from "./connection.ts";

type Domain = {
  hostname: string;
  status: string;
  primary: boolean;
  record: { type: string; name: string; value: string; ttl: number };
  challenge: { type: string; name: string; value: string } | null;
  problems: { message: string; fix: string }[];
  certificate: { status: string; expiresAt: string | null; problem: string | null; retryAt: string | null };
  attention: { message: string } | null;
  nextCheckAt: string | null;
};

const options = { ...connectionOptions, project: { type: "string" } } as const;
const required = ["project"];

/** `domains add|list|check|remove`; `environment` is where the service's address and key are looked up when they are not options. */
export function domainCommands(environment: () => Connect): Command[] {
  const one = (word: string, summary: string, run: (calls: Calls, path: string, hostname: string) => Promise<Outcome>): Command => ({
    name: `domains ${word}`,
    usage: "HOSTNAME --project SLUG [--url URL] [--key KEY]",
    summary,
    options,
    required,
    operands: ["HOSTNAME"],
    async run(args) {
      const { calls, path } = await open(args, environment());
      return run(calls, path, args.operands[0] ?? "");
    },
  });

  return [
    one("add", "Attach a domain to a project and print the DNS record to create", async (calls, path, hostname) => {
      const domain = await calls.call<Domain>("POST", path, { hostname });
      return { json: domain, text: `${domain.hostname} is added. Create this record at your registrar:\n${recordsOf(domain)}` };
    }),
    {
      name: "domains list",
      usage: "--project SLUG [--url URL] [--key KEY]",
      summary: "List the domains of a project",
      options,
      required,
      async run(args) {
        const { calls, path } = await open(args, environment());
        const domains = await calls.all<Domain>(path);
        const rows = domains.map((one) => [
          one.hostname,
          one.status,
          one.certificate.status,
          one.certificate.expiresAt,
          one.primary ? "yes" : "",
        ]);
        return { json: { domains }, text: columns(["HOSTNAME", "STATUS", "CERTIFICATE", "EXPIRES", "PRIMARY"], rows) };
      },
    },
    one(
      "check",
      "Check a domain's DNS now; the exit code is 1 unless it is verified and has its certificate",
      async (calls, path, hostname) => {
        const domain = await calls.call<Domain>("POST", `${path}/${encodeURIComponent(hostname)}/verify`);
        const healthy = domain.status === "verified" && domain.certificate.status === "issued" && domain.problems.length === 0;
        if (!healthy) process.exitCode = 1;
        return { json: domain, text: diagnosis(domain) };
      },
    ),
    one("remove", "Stop serving a domain at once", async (calls, path, hostname) => {
      const removed = await calls.call<{ warning: string } | undefined>("DELETE", `${path}/${encodeURIComponent(hostname)}`);
      const text = removed === undefined ? `${hostname} is removed.` : `${hostname} is removed. ${removed.warning}`;
      return { json: removed ?? { hostname }, text };
    }),
  ];
}

type Calls = Awaited<ReturnType<typeof import("./publishing-calls.ts").openApiCalls>>;

async function open(args: Arguments, environment: Connect): Promise<{ calls: Calls; path: string }> {
  const { openApiCalls } = await import("./publishing-calls.ts");
  const calls = await openApiCalls(connectionOf(args.options, environment));
  const { id } = await calls.projectBySlug<{ id: number; slug: string }>(String(args.options["project"]));
  return { calls, path: `/projects/${id}/domains` };
}

function recordsOf({ record, challenge }: Domain): string {
  const rows = [[record.type, record.name, record.value, record.ttl]];
  if (challenge) rows.push([challenge.type, challenge.name, challenge.value, record.ttl]);
  return columns(["TYPE", "NAME", "VALUE", "TTL"], rows);
}

function diagnosis(domain: Domain): string {
  const { hostname, status, certificate, problems, attention, nextCheckAt } = domain;
  const lines = [`${hostname}: ${status}, certificate ${certificate.status}`];
  for (const { message, fix } of problems) lines.push("", message, `  ${fix}`);
  if (certificate.problem !== null) lines.push("", certificate.problem, `  The next try is at ${certificate.retryAt ?? "no time yet"}.`);
  if (attention) lines.push("", attention.message);
  if (problems.length > 0)
    lines.push("", "The record that is expected:", recordsOf(domain), `Checked again by itself at ${nextCheckAt ?? "no time: use check"}.`);
  return lines.join("\n");
}
