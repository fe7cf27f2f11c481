/** A lock of PostgreSQL that writes or all statements wait for. */
export type StrongLock = "SHARE" | "SHARE ROW EXCLUSIVE" | "ACCESS EXCLUSIVE";

/** What a statement costs on a table: `catalog` takes no longer on a large one, `scan` reads it, `rows` changes rows, `rewrite` writes all of it again. */
type Work = "catalog" | "scan" | "rows" | "rewrite";

/** What a migration does to a table that was there before. `lock` is what it takes on PostgreSQL, if other statements wait for it. */
export type Effect = { table: string; does: string; work: Work; lock: StrongLock | undefined };

/** The statements of a script, without comments. A body between `$$` is only `$$`, except that of DO, whose statements follow it. */
function statementsOf(script: string): string[] {
  const bodies: string[] = [];
  const text = script
    .replaceAll(/--[^\n]*/g, "")
    .split("$$")
    .map((part, i) => (i % 2 === 0 ? part : void bodies.push(part)))
    .join("$$");
  const statements: string[] = [];
  for (const part of text.split(";").map((one) => one.trim().replaceAll(/\s+/g, " "))) {
    const last = statements.at(-1);
    // a trigger of SQLite has statements inside
    if (last !== undefined && /^CREATE TRIGGER .*\bBEGIN\b/i.test(last) && !/\bEND$/i.test(last))
      statements[statements.length - 1] += `; ${part}`;
    else if (part !== "") statements.push(part);
  }
  const isDo = statements.some((statement) => /^DO \$\$/i.test(statement));
  return isDo ? [...statements, ...bodies.flatMap((body) => statementsOf(body.replace(/^\s*BEGIN\b/i, "")))] : statements;
}

type Form = { form: RegExp; does: string; work: Work; lock?: StrongLock };

/** The first form that fits says what a statement does to the table that its group names. */
const forms: Form[] = [
  { form: /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+) VALIDATE CONSTRAINT\b/i, does: "checks a constraint of", work: "scan" },
  {
    form: /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+) (?:ADD COLUMN .*(?:\bGENERATED\b|\bDEFAULT \w+ ?\()|ALTER (?:COLUMN )?\w+ (?:SET DATA )?TYPE\b)/i,
    does: "writes a column of",
    work: "rewrite",
    lock: "ACCESS EXCLUSIVE",
  },
  {
    form: /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+) .*\bNOT VALID$/i,
    does: "adds a constraint to",
    work: "catalog",
    lock: "ACCESS EXCLUSIVE",
  },
  {
    form: /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+) (?:ADD COLUMN .*\b(?:CHECK|UNIQUE|REFERENCES)\b|ADD (?:CONSTRAINT|CHECK|UNIQUE|FOREIGN|PRIMARY)\b|ALTER (?:COLUMN )?\w+ SET NOT NULL)/i,
    does: "adds a constraint to",
    work: "scan",
    lock: "ACCESS EXCLUSIVE",
  },
  {
    form: /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+) ADD COLUMN\b/i,
    does: "adds a column to",
    work: "catalog",
    lock: "ACCESS EXCLUSIVE",
  },
  { form: /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+)/i, does: "changes the columns of", work: "catalog", lock: "ACCESS EXCLUSIVE" },
  { form: /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY .*? ON (\w+)/i, does: "makes an index of", work: "scan" },
  { form: /^CREATE (?:UNIQUE )?INDEX .*? ON (\w+)/i, does: "makes an index of", work: "scan", lock: "SHARE" },
  { form: /^CREATE (?:OR REPLACE )?TRIGGER .*? ON (\w+)/i, does: "adds a trigger to", work: "catalog", lock: "SHARE ROW EXCLUSIVE" },
  { form: /^DROP TRIGGER .*? ON (\w+)/i, does: "drops a trigger of", work: "catalog", lock: "ACCESS EXCLUSIVE" },
  { form: /^DROP TABLE (?:IF EXISTS )?(\w+)/i, does: "drops", work: "catalog", lock: "ACCESS EXCLUSIVE" },
  { form: /^(?:TRUNCATE|LOCK|CLUSTER|REINDEX) (?:TABLE )?(\w+)/i, does: "locks", work: "rewrite", lock: "ACCESS EXCLUSIVE" },
  { form: /^(?:WITH .*?)?\b(?:UPDATE|DELETE FROM|INSERT INTO) (\w+)/i, does: "changes rows of", work: "rows" },
];

/** The table from whose rows a statement makes others: as many, or a few for each. */
function sourceOf(statement: string): string | undefined {
  return /^(?:INSERT INTO \w+ (?:\([^)]*\) )?SELECT|(?:BEGIN )?FOR \w+ IN SELECT) .*?\bFROM (\w+)/i.exec(statement)?.[1];
}

/**
 * What a script does to each table that it has not made itself, in its order. It rewrites a table that it drops and makes again. Rows that it makes from
 * those of another table cost about as much as that table.
 */
export function effectsOf(script: string): Effect[] {
  const made = new Set<string>();
  const effects: Effect[] = [];
  for (const statement of statementsOf(script)) {
    const own = /^CREATE (?:TEMPORARY )?(?:TABLE|VIEW) (?:IF NOT EXISTS )?(\w+)/i.exec(statement)?.[1];
    const found = forms.flatMap(({ form, ...effect }) => {
      const table = form.exec(statement)?.[1];
      return table === undefined ? [] : [{ lock: undefined, ...effect, table }];
    })[0];
    const isData = found?.work === "rows";
    const referred = isData
      ? []
      : [...statement.matchAll(/\bREFERENCES (\w+)/gi)].map(([, table]) => ({
          table: String(table),
          does: "refers to",
          work: "catalog" as const,
          lock: "SHARE ROW EXCLUSIVE" as const,
        }));
    if (own !== undefined) {
      made.add(own);
      const dropped = effects.find(({ table, does }) => table === own && does === "drops");
      if (dropped) Object.assign(dropped, { does: "rewrites", work: "rewrite" });
    }
    const source = sourceOf(statement);
    const copied: Effect[] = source === undefined ? [] : [{ table: source, does: "makes rows from", work: "rows", lock: undefined }];
    effects.push(...[...(found && own === undefined ? [found] : []), ...copied, ...referred].filter(({ table }) => !made.has(table)));
  }
  return effects;
}

const strengths: StrongLock[] = ["SHARE", "SHARE ROW EXCLUSIVE", "ACCESS EXCLUSIVE"];

/** The strongest lock that scripts take on each table, on PostgreSQL. */
export function strongLocksOf(...scripts: string[]): Map<string, StrongLock> {
  const locks = new Map<string, StrongLock>();
  for (const { table, lock } of scripts.flatMap(effectsOf)) {
    const held = locks.get(table);
    if (lock !== undefined && (held === undefined || strengths.indexOf(lock) > strengths.indexOf(held))) locks.set(table, lock);
  }
  return locks;
}
