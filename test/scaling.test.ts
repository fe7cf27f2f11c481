import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { assumed, clusterFor, costOf, randomOf, simulate, usageRowsPerSecond, zipfShares, type Costs } from "../bench/scaling/model.ts";
import { readCosts, scalingTables } from "../bench/scaling/report.ts";

const round: Costs = {
  kinds: {
    read: { nodeUs: 100, postgresUs: 50, redisUs: 20, roundTrips: 1, isWrite: false },
    order: { nodeUs: 300, postgresUs: 450, redisUs: 20, roundTrips: 5, isWrite: true },
  },
  usageRowUs: 10,
  idleNodeUs: 8_000,
};
const mix = { read: 0.75, order: 0.25 };
const evenly = { accounts: 10_000, perSecond: 1_000, mix, skew: 0 };
const close = (actual: number, expected: number, share: number): void =>
  assert.ok(Math.abs(actual - expected) <= share * expected, `${actual}, where ${expected} was expected`);

test("docs/scaling.md has the tables of the last measured costs", () => {
  const page = readFileSync(new URL("../docs/scaling.md", import.meta.url), "utf8");
  for (const [name, table] of Object.entries(scalingTables(readCosts())))
    assert.ok(
      page.includes(`<!-- ${name} -->\n${table}\n<!-- end of ${name} -->`),
      `run \`npm run bench -- scaling\`: ${name} is not current`,
    );
});

test("simulated waits agree with queueing theory, and the same seed gives the same figures", () => {
  const only: Costs = { ...round, kinds: { page: { nodeUs: 1_000, postgresUs: 0, redisUs: 0, roundTrips: 0, isWrite: false } } };
  const load = { accounts: 10, perSecond: 600, mix: { page: 1 }, skew: 0 };
  const cluster = { nodes: 1, postgres: 1, redis: 1, isRouted: false };
  const outcome = simulate(only, load, cluster, 200_000, 1);
  const short = (seed: number) => simulate(only, load, cluster, 10_000, seed);
  assert.deepEqual(short(1), short(1));
  assert.notDeepEqual(short(2), short(1));
  // M/M/1: the time in the system is exponential, with the mean 1 / (served - arriving).
  const meanMs = 1_000 / (1_000 - 600);
  close(outcome.p50Ms, Math.LN2 * meanMs, 0.05);
  close(outcome.p99Ms, Math.log(100) * meanMs, 0.1);
  close(outcome.busiest.node, 0.6, 0.02);
});

test("a request waits for a free connection of its node, and writes and reads have separate connections", () => {
  const slow: Costs = { ...round, kinds: { order: { nodeUs: 1, postgresUs: 1, redisUs: 0, roundTrips: 50, isWrite: true } } };
  const load = { accounts: 10, perSecond: 0, mix: { order: 1 }, skew: 0 };
  const holdsMs = (50 * assumed.roundTripUs) / 1_000;
  const cluster = { nodes: 1, postgres: 1, redis: 1, isRouted: false };
  const full = (assumed.writers * 1_000) / holdsMs;
  close(simulate(slow, { ...load, perSecond: full / 2 }, cluster, 50_000, 3).p50Ms, holdsMs, 0.1);
  assert.ok(
    simulate(slow, { ...load, perSecond: full * 1.2 }, cluster, 50_000, 3).p50Ms > 20 * holdsMs,
    "more requests than the node has connections for",
  );
});

test("accounts follow Zipf's law", () => {
  const shares = zipfShares(1_000, 1);
  close(
    shares.reduce((sum, share) => sum + share, 0),
    1,
    1e-9,
  );
  close(shares[0]! / shares[9]!, 10, 1e-9);
  assert.equal(new Set(zipfShares(100, 0)).size, 1);
  const random = randomOf(7);
  close(Array.from({ length: 10_000 }, random).reduce((sum, one) => sum + one, 0) / 10_000, 0.5, 0.02);
});

test("a cluster has room for the average load, and rows of usage are counted for each account and node", () => {
  assert.deepEqual(costOf(round, mix), { nodeUs: 150, postgresUs: 150, redisUs: 20, roundTrips: 2, isWrite: false });
  assert.throws(() => costOf(round, { upload: 1 }), /upload was not measured/);
  const { nodes, postgres, redis } = clusterFor(round, { ...evenly, perSecond: 100_000 }, { isRouted: true });
  assert.deepEqual([nodes, redis], [25, 4], "15 and 2 cores, of which 0.6 may be busy");
  assert.ok(postgres >= Math.ceil(15 / 8 / 0.6));
  const skewed = { ...evenly, perSecond: 100_000, skew: 1.5 };
  assert.ok(clusterFor(round, skewed, { isRouted: true }).redis > 4, "the largest accounts need room");
  // Each of 10,000 accounts sends 100 requests between two saves, so each node saves 6 rows for each account.
  const busy = { ...evenly, perSecond: 200_000 };
  close(usageRowsPerSecond(busy, { nodes: 4, isRouted: false }), (4 * 10_000 * 6) / 5, 0.001);
  close(usageRowsPerSecond(busy, { nodes: 4, isRouted: true }), (10_000 * 6) / 5, 0.001);
  const rare = { ...evenly, perSecond: 10 };
  close(usageRowsPerSecond(rare, { nodes: 4, isRouted: false }), 10 * 6, 0.01);
});
