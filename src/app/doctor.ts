import { statfsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { hourMs } from "../platform/clock.ts";
import { migrationsFor } from "../platform/db/migrate.ts";
import { type FaultKind, faultTable } from "../platform/faults.ts";
import { requireAccess } from "../platform/folder-access.ts";
import { isAnswered } from "../platform/socket.ts";
import { certificateFindings, nameFindings, schemaFinding, type Ask } from "./doctor-data.ts";
import { answerMs, clockFinding, fault, ok, reasonOf, warning, type Finding } from "./findings.ts";
import type { Settings } from "./settings.ts";
import { databasePath, socketPath } from "./storage.ts";

/** With less free space than the first, the disk counts as nearly full; with less than the second, as full. */
const [roomyBytes, fullBytes] = [1024 ** 3, 100 * 1024 ** 2];

/** Checks everything that a service with these settings needs, and changes nothing. No check takes more than a few seconds. */
export async function examine(settings: Settings, clock: () => number): Promise<Finding[]> {
  const isRunning = await isAnswered(socketPath(settings));
  const checks = [
    checkFolder(settings),
    settings.databaseUrl === ""
      ? checkEmbedded(settings, clock)
      : import("./doctor-postgres.ts").then((own) => own.checkPostgres(settings, clock)),
    import("./doctor-redis.ts").then((own) => own.checkRedis(settings, clock)),
    checkPorts(settings, isRunning),
    checkService(settings, isRunning),
    checkDns(settings),
    checkAuthority(settings, clock),
  ];
  return (await Promise.all(checks)).flat();
}

/** Reports the faults and warnings of the running service. */
async function checkService({ host, port }: Settings, isRunning: boolean): Promise<Finding[]> {
  if (!isRunning || port === 0) return [];
  const name = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : host;
  try {
    const answer = await fetch(`http://${name}:${port}/readyz`, { signal: AbortSignal.timeout(answerMs) });
    const { reason, warnings = [], faults = [] } = (await answer.json()) as { reason?: string; warnings?: string[]; faults?: FaultKind[] };
    const remedy = faults.flatMap((kind) => (kind in faultTable ? [faultTable[kind].remedy] : [])).join("; ");
    const found = warnings.map((text) => warning("service", text, remedy));
    if (reason !== undefined) found.push(fault("service", reason, remedy || "wait, or read its log"));
    return found.length > 0 ? found : [ok("service", "the service runs, and reports no fault")];
  } catch (error) {
    return [fault("service", `the service does not answer at PORT (${reasonOf(error)})`, "read its log")];
  }
}

async function checkFolder({ dataDir }: Settings): Promise<Finding[]> {
  try {
    requireAccess(dataDir);
  } catch (error) {
    return [fault("folder", reasonOf(error), "give the folder to the user that runs the service, with mode 0700")];
  }
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (stats && !stats.isDirectory()) return [fault("folder", `DATA_DIR=${dataDir} is not a folder`, "set DATA_DIR to a folder")];
  if (!stats) return [ok("folder", `${dataDir} does not exist yet: the first start makes it`)];
  const found = [ok("folder", `${dataDir} can be read and written`)];
  if ((stats.mode & 0o077) !== 0 && process.platform !== "win32")
    found.push(warning("folder", `${dataDir} is open to other users of the machine`, `chmod 700 ${dataDir}`));
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  const shown = `${(free / 1024 ** 3).toFixed(1)} GiB free at ${dataDir}`;
  const more = "free some space, or move DATA_DIR to a larger disk";
  if (free < fullBytes) return [...found, fault("disk", shown, more)];
  return [...found, free < roomyBytes ? warning("disk", shown, more) : ok("disk", shown)];
}

async function checkEmbedded(settings: Settings, clock: () => number): Promise<Finding[]> {
  const { dataDir } = settings;
  const file = databasePath(dataDir);
  if (!statSync(file, { throwIfNoEntry: false })) return [ok("database", "no data yet: the first start makes the embedded database")];
  const [{ DatabaseSync }, { readLogState }] = await Promise.all([import("node:sqlite"), import("../platform/db/sqlite-files.ts")]);
  if (readLogState(file) === "needed" && !statSync(`${file}-wal`, { throwIfNoEntry: false }))
    return [
      fault(
        "database",
        `${file}-wal is gone, and had changes`,
        "put it back or restore a backup; `petstore repair --yes` goes on without them",
      ),
    ];
  try {
    const db = new DatabaseSync(file, { readOnly: true, timeout: 1_000 });
    try {
      const row = db.prepare("SELECT MAX(number) AS number, MAX(applied_at) AS applied_at FROM migrations").get();
      const at = Number(row?.["applied_at"]);
      const behind = at - clock() > hourMs;
      const [number, known] = [Number(row?.["number"]), migrationsFor("sqlite").at(-1)?.number ?? 0];
      const found = [schemaFinding(number, known)];
      const ask: Ask = (query) => db.prepare(query.sql).get(...(query.values as (string | number)[]));
      if (number === known) found.push(...(await nameFindings(ask)), ...(await certificateFindings(settings, clock(), ask)));
      if (behind) found.push(fault("clock", `the clock is behind the data, of ${new Date(at).toISOString()}`, "set the clock"));
      else found.push(ok("clock", `${new Date(clock()).toISOString()}, not behind the data`));
      return found;
    } finally {
      db.close();
    }
  } catch (error) {
    return [fault("database", `${file} cannot be read (${reasonOf(error)})`, "run `petstore verify`; a backup can be restored")];
  }
}

async function checkPorts({ host, port, edgeHttpPort, edgeHttpsPort }: Settings, isRunning: boolean): Promise<Finding[]> {
  const ports = Object.entries({ PORT: port, EDGE_HTTP_PORT: edgeHttpPort, EDGE_HTTPS_PORT: edgeHttpsPort });
  return Promise.all(
    ports.map(async ([name, number]) => {
      const code = number === 0 ? undefined : await whyNotListened(host, number);
      const check = `port ${number}`;
      if (code === undefined) return ok(check, `${name} is free`);
      if (code === "EADDRINUSE" && isRunning) return ok(check, `${name} is held, and this service is running`);
      if (code === "EADDRINUSE") return fault(check, `${name} is held by another program`, `stop that program, or set ${name}`);
      if (code === "EACCES")
        return fault(check, `this user may not listen at ${name}`, `use a port from 1024 on, or grant CAP_NET_BIND_SERVICE`);
      return fault(check, `HOST=${host} cannot be listened at (${code})`, "set HOST to an address of this machine");
    }),
  );
}

function whyNotListened(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

async function checkDns({ dnsServers, platformDomain }: Settings): Promise<Finding[]> {
  if (platformDomain === "localhost" || platformDomain.endsWith(".localhost"))
    return [ok("dns", `${platformDomain} leads to this machine without DNS`)];
  const [{ createDns }, { openBounds }] = await Promise.all([import("../publishing/dns/lookup.ts"), import("../platform/bounds.ts")]);
  const found = await createDns({ servers: dnsServers }, openBounds().queue("dns")).lookUp(platformDomain, "A");
  if (found.outcome === "records") return [ok("dns", `${platformDomain} has the address ${found.records[0]?.value ?? ""}`)];
  if (found.outcome === "none")
    return [warning("dns", `${platformDomain} has no A record`, "create one that leads to the edge, and one for *." + platformDomain)];
  return [fault("dns", `${found.server} does not answer (${found.reason})`, "check DNS_SERVERS and the network", { isUnreachable: true })];
}

async function checkAuthority(settings: Settings, clock: () => number): Promise<Finding[]> {
  const { acmeDirectoryUrl, acmeCa } = settings;
  if (acmeDirectoryUrl === "") return [ok("acme", "not set: custom domains get no certificates")];
  const { openTransport } = await import("../publishing/acme/transport.ts");
  const transport = openTransport({ ca: acmeCa === "" ? undefined : acmeCa, timeoutMs: answerMs });
  try {
    const { status, headers, body } = await transport.exchange({ method: "GET", url: acmeDirectoryUrl });
    const isDirectory = status === 200 && body.includes('"newOrder"');
    if (!isDirectory) return [fault("acme", `the answer (${status}) is not that of an ACME directory`, "set ACME_DIRECTORY_URL")];
    const date = Date.parse(headers.date ?? "");
    return [
      ok("acme", "the directory answers"),
      ...(await platformFindings(settings, body)),
      ...(Number.isNaN(date) ? [] : [clockFinding("the ACME directory", date, clock())]),
    ];
  } catch (error) {
    return [
      fault("acme", `the directory does not answer (${reasonOf(error)})`, "check ACME_DIRECTORY_URL, ACME_CA_FILE and the network", {
        isUnreachable: true,
      }),
    ];
  } finally {
    transport.close();
  }
}

/** Whether the CAA records of the platform's own name allow the authority: those of customers' names lead there, and only the operator can change them. */
async function platformFindings({ platformDomain, dnsServers, acmeCaaIdentities }: Settings, directory: Buffer): Promise<Finding[]> {
  if (platformDomain === "localhost" || platformDomain.endsWith(".localhost")) return [];
  const [{ caaProblem }, { createDns }, { openBounds }] = await Promise.all([
    import("../publishing/dns/dns.ts"),
    import("../publishing/dns/lookup.ts"),
    import("../platform/bounds.ts"),
  ]);
  const { meta } = JSON.parse(directory.toString()) as { meta?: { caaIdentities?: string[] } | null };
  const identities = acmeCaaIdentities.length > 0 ? acmeCaaIdentities : (meta?.caaIdentities ?? []);
  const dns = createDns({ servers: dnsServers }, openBounds().queue("dns"));
  const problem = await caaProblem(dns, platformDomain, { identities, accountUrl: null });
  return problem === null ? [] : [fault("acme", problem, "change the CAA records: names that point here get no certificate")];
}
