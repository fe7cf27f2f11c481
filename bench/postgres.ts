/**
 * Measures what the service costs on top of PostgreSQL: `node bench/postgres.ts`. Compares requests from 64 connections with the bare
 * driver, which 64 callers use with prepared statements and the default pool, on the same server and rows.
 */
import pg from "pg";
import { newSecretsKey } from "../src/platform/secrets.ts";
import { startPostgres } from "../test/support/postgres-process.ts";
import { measureAlternately, type Figure } from "./figures.ts";
import { requestsPerSecond } from "./load.ts";
import { makeFolder, openShop } from "./shop.ts";

const rounds = 5;
const connections = 64;
const secondsMs = 3_000;
const animals = 1_000;
const stock = 1_000_000_000;

const read = { name: "read", text: "SELECT id, name, category_id, status, version FROM pets WHERE account_id = $1 AND id = $2" };
const take = {
  name: "take",
  text: `UPDATE inventory SET quantity = quantity - $3, held = held + $3,
    status = CASE WHEN quantity - $3 > 0 THEN 'available' ELSE 'pending' END, version = version + 1
    WHERE account_id = $1 AND pet_id = $2 AND quantity >= $3 RETURNING quantity, held, status, version`,
};
const insert = {
  name: "insert",
  text: `INSERT INTO orders (account_id, id, pet_id, quantity, held, ship_date, complete, version)
    VALUES ($1, nextval('order_ids'), $2, $3, $3, NULL, FALSE, 1) RETURNING id, pet_id, quantity, held, ship_date, complete, version`,
};

/** Compares a read and an order through the service with the same statements through the bare driver. */
export async function* measurePostgres(): AsyncGenerator<Figure> {
  const server = await startPostgres();
  const env = { DATABASE_URL: server.url, SECRETS_KEY: newSecretsKey() };
  const folder = makeFolder(env);
  const shop = await openShop(folder, env);
  const pool = new pg.Pool({ connectionString: server.url });
  const { accountId, key } = folder;
  try {
    await fill(pool, accountId);
    const readings = await measureAlternately(
      rounds,
      () => requestsPerSecond({ url: `${shop.url}/pets/1`, key, connections }),
      () => perSecond(() => pool.query({ ...read, values: [accountId, 1] })),
    );
    const orders = await measureAlternately(
      rounds,
      () => requestsPerSecond({ url: `${shop.url}/store/orders`, key, connections, script: anyOrder }),
      () => perSecond(() => order(pool, accountId, 1 + Math.floor(Math.random() * animals))),
    );
    const against = `the bare driver, ${connections} connections, on PostgreSQL`;
    yield* [
      { id: "postgres-read", what: `\`GET /pets/{id}\` / its query by ${against}`, ...readings, unit: "a second", goal: "≥ 0.6" },
      { id: "postgres-order", what: `\`POST /store/orders\` / its transaction by ${against}`, ...orders, unit: "a second", goal: "≥ 0.6" },
    ];
  } finally {
    await pool.end();
    await shop.stop();
    folder.remove();
    await server.remove();
  }
}

/** For wrk: each order is for a random animal. */
const anyOrder = `
  wrk.method = "POST"; wrk.headers["Content-Type"] = "application/json"
  request = function() return wrk.format(nil, nil, nil, '{"petId":' .. math.random(${animals}) .. ',"quantity":1}') end`;

async function fill(pool: pg.Pool, accountId: number): Promise<void> {
  await pool.query(`
    INSERT INTO categories VALUES (${accountId}, 1, 'Dogs', 'dogs', NULL, 1);
    INSERT INTO pets (account_id, id, name, name_key, category_id, status, version) SELECT ${accountId}, n, 'Rex', 'rex', 1, 'available', 1 FROM generate_series(1, ${animals}) n;
    INSERT INTO inventory SELECT ${accountId}, n, ${stock}, 0, 'available', 1 FROM generate_series(1, ${animals}) n;
    ANALYZE`);
}

async function order(pool: pg.Pool, accountId: number, petId: number): Promise<void> {
  const client = await pool.connect();
  await client.query("BEGIN");
  await client.query({ ...take, values: [accountId, petId, 1] });
  await client.query({ ...insert, values: [accountId, petId, 1] });
  await client.query("COMMIT");
  client.release();
}

/** Work items done in a second, measured for three seconds with one caller for each connection. */
async function perSecond(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  let done = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() - start < secondsMs) {
      await work();
      done++;
    }
  };
  await Promise.all(Array.from({ length: connections }, caller));
  return (done * 1_000) / (performance.now() - start);
}

if (import.meta.main) console.table(await Array.fromAsync(measurePostgres()));
