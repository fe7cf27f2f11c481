/** A numbered change of the schema. `hash` is of its SQL. */
export type Migration = { number: number; name: string; script: string; hash: string };

/** A row of the table `migrations`. `hash` is null in rows of release 1.1.0 and earlier ones. */
export type AppliedMigration = { number: number; name: string; hash: string | null };

/** The data has other migrations than this program. The message is one line that names the first of them. */
export class HistoryError extends Error {}

/** A newer version of the program wrote the data. `last` is the number of this program's last migration. */
export class NewerDataError extends HistoryError {
  readonly last: number;

  constructor(newer: AppliedMigration, last: number) {
    super(
      `the data was written by a newer version of the program (migration ${labelOf(newer)} is unknown here, where ${digits(last)} is the last)`,
    );
    this.last = last;
  }
}

/**
 * Returns the migrations that are missing in the data, in order.
 *
 * @param applied the data's migrations, in order
 * @throws NewerDataError; HistoryError for a gap, another name at a number, or a changed script
 */
export function pendingOf(applied: AppliedMigration[], migrations: Migration[]): Migration[] {
  const last = migrations.at(-1)?.number ?? 0;
  const ours = new Map(migrations.map((migration) => [migration.number, migration]));
  for (const row of applied.filter(({ number }) => number <= last)) requireOurs(row, ours.get(row.number));
  const newer = applied.find(({ number }) => number > last);
  if (newer) throw new NewerDataError(newer, last);

  const numbers = new Set(applied.map(({ number }) => number));
  const pending = migrations.filter(({ number }) => !numbers.has(number));
  const latest = applied.at(-1);
  const [first] = pending;
  if (first && latest && first.number < latest.number) {
    throw new HistoryError(
      `migration ${labelOf(first)} is missing in the data, which has ${labelOf(latest)}: no release of this program wrote the data; ${advice}`,
    );
  }
  return pending;
}

const advice = "start the program that did, or restore a backup";

function requireOurs(row: AppliedMigration, ours: Migration | undefined): void {
  const reason =
    ours === undefined
      ? "which has none of this number"
      : ours.name !== row.name
        ? `whose migration of this number is ${ours.name}`
        : row.hash !== null && row.hash !== ours.hash
          ? "whose migration of this name has other SQL"
          : undefined;
  if (reason === undefined) return;
  throw new HistoryError(
    `migration ${labelOf(row)} in the data is not the one of this program, ${reason}: another program wrote the data; ${advice}`,
  );
}

/** `0012 changes_of_hosts` */
function labelOf({ number, name }: Pick<Migration, "number" | "name">): string {
  return `${digits(number)} ${name}`;
}

function digits(number: number): string {
  return String(number).padStart(4, "0");
}
