import { migrationsFor } from "../platform/db/migrate.ts";
import { AccessError } from "../platform/db/postgres-errors.ts";
import { noWrites, openSession, takesNoWrites, type Session } from "../platform/db/postgres-sessions.ts";
import { Problem } from "../platform/problem.ts";
import { certificateFindings, nameFindings, schemaFinding, type Ask } from "./doctor-data.ts";
import { answerMs, clockFinding, fault, ok, reasonOf, type Finding } from "./findings.ts";
import type { Settings } from "./settings.ts";

const patience = { connectMs: answerMs, statementMs: answerMs };

export const toPrimary = "set DATABASE_URL to the primary, or promote this server";
const factsText = `
  SELECT EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS now, to_regclass('migrations') IS NOT NULL AS has, ${takesNoWrites} AS closed`;

/** Checks the PostgreSQL of `DATABASE_URL`, and a pooler before it, as the service does when it connects. */
export async function checkPostgres(settings: Settings, clock: () => number): Promise<Finding[]> {
  let opened: Session | undefined;
  try {
    const { client } = (opened = await openSession(settings.databaseUrl, "SET default_transaction_read_only = on", { patience }));
    const { rows } = await client.query<{ now: string; has: boolean; closed: boolean }>(factsText);
    const found = [clockFinding("PostgreSQL", Number(rows[0]?.now), clock())];
    if (rows[0]?.closed === true) found.push(fault("database", `PostgreSQL ${noWrites}`, toPrimary));
    if (rows[0]?.has !== true) return [...found, ok("database", "PostgreSQL answers; it is empty, and the first start makes the tables")];
    const newest = await client.query<{ number: number }>("SELECT MAX(number) AS number FROM migrations");
    const [number, known] = [Number(newest.rows[0]?.number), migrationsFor("postgres").at(-1)?.number ?? 0];
    const ask: Ask = async ({ text, values }) => (await client.query<object>(text, values)).rows[0];
    const more = number === known ? [...(await nameFindings(ask)), ...(await certificateFindings(settings, clock(), ask))] : [];
    return [...found, schemaFinding(number, known), ...more];
  } catch (error) {
    return [connectingFault(error instanceof Problem && error.cause instanceof Error ? error.cause : (error as Error))];
  } finally {
    opened?.client.end().catch(() => undefined);
  }
}

function connectingFault(error: Error): Finding {
  if (error instanceof AccessError) return fault("database", reasonOf(error), "do what the message says, or correct DATABASE_URL");
  return fault("database", reasonOf(error), "check the server, DATABASE_URL and the network", { isUnreachable: true });
}
