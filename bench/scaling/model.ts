/**
 * A small simulation of the service at a load that one machine cannot generate: nodes with their pools, PostgreSQL and Redis partitioned by
 * account, and accounts of sizes by Zipf's law. The same seed gives the same figures.
 */

/** The measured cost of one request of a kind: CPU in µs, and round trips to PostgreSQL. */
export type RequestCost = { nodeUs: number; postgresUs: number; redisUs: number; roundTrips: number; isWrite: boolean };

/** The costs that `measure.ts` measured on one machine. */
export type Costs = {
  kinds: Record<string, RequestCost>;
  /** PostgreSQL's CPU (µs) for one row of usage that a node saves, and for one second of an idle node. */
  usageRowUs: number;
  idleNodeUs: number;
};

/** Shares of the kinds of requests; they add up to 1. */
export type Mix = Record<string, number>;

export type Load = { accounts: number; perSecond: number; mix: Mix; skew: number };

/** `isRouted`: whether the load balancer sends the requests of an account to as few nodes as it needs. */
export type Cluster = { nodes: number; postgres: number; redis: number; isRouted: boolean };

export const assumed = {
  /** Cores of each PostgreSQL server. A node and a Redis use one. */
  postgresCores: 8,
  /** Time of a round trip to PostgreSQL or Redis on the network (µs). */
  roundTripUs: 200,
  /** Connections of one node for transactions and for reads. */
  writers: 10,
  readers: 4,
  /** Seconds between two saves of the usage, and the rows saved for each account: two kinds in three intervals. */
  flushSeconds: 5,
  rowsPerAccount: 6,
  /** With routing, an account gets one node for each so many requests a second. */
  perSecondOfAccountNode: 100,
  /** The share of its time for which a server may be busy. */
  busyMax: 0.6,
  /** The same for the Redis or PostgreSQL with the largest accounts. */
  busiestMax: 0.8,
} as const;

/** The average cost of a request of the mix. */
export function costOf(costs: Costs, mix: Mix): RequestCost {
  const sum = (pick: (cost: RequestCost) => number): number =>
    Object.entries(mix).reduce((total, [kind, share]) => total + share * pick(kindOf(costs, kind)), 0);
  return {
    nodeUs: sum(({ nodeUs }) => nodeUs),
    postgresUs: sum(({ postgresUs }) => postgresUs),
    redisUs: sum(({ redisUs }) => redisUs),
    roundTrips: sum(({ roundTrips }) => roundTrips),
    isWrite: false,
  };
}

function kindOf({ kinds }: Costs, kind: string): RequestCost {
  const cost = kinds[kind];
  if (cost === undefined) throw new Error(`${kind} was not measured`);
  return cost;
}

type Routing = Pick<Cluster, "nodes" | "isRouted">;

/** The number of nodes that get the requests of an account. */
function nodesOf(share: number, perSecond: number, { nodes, isRouted }: Routing): number {
  return isRouted ? Math.min(nodes, Math.ceil((share * perSecond) / assumed.perSecondOfAccountNode)) : nodes;
}

/** Rows of usage a second: at each save, a node writes rows for every account that sent it a request since the last save. */
export function usageRowsPerSecond({ accounts, perSecond, skew }: Load, routing: Routing): number {
  const { flushSeconds, rowsPerAccount } = assumed;
  let seen = 0;
  for (const share of zipfShares(accounts, skew)) {
    const spread = nodesOf(share, perSecond, routing);
    seen += spread * (1 - Math.exp((-share * perSecond * flushSeconds) / spread));
  }
  return (seen * rowsPerAccount) / flushSeconds;
}

/** The PostgreSQL cores that a load keeps busy, by the kind of work. */
export function postgresCores(costs: Costs, load: Load, cluster: Routing) {
  return {
    requests: (load.perSecond * costOf(costs, load.mix).postgresUs) / 1e6,
    usage: (usageRowsPerSecond(load, cluster) * costs.usageRowUs) / 1e6,
    nodes: (cluster.nodes * costs.idleNodeUs) / 1e6,
  };
}

/**
 * The smallest cluster in which servers are on average busy for at most `busyMax` of their time, and the Redis and PostgreSQL servers with
 * the largest accounts for at most `busiestMax`.
 */
export function clusterFor(costs: Costs, load: Load, { isRouted = false } = {}): Cluster {
  const { busyMax, busiestMax } = assumed;
  const cost = costOf(costs, load.mix);
  const nodes = Math.max(2, Math.ceil((load.perSecond * cost.nodeUs) / 1e6 / busyMax));
  const { requests, usage, nodes: idle } = postgresCores(costs, load, { nodes, isRouted });
  const redisCores = (load.perSecond * cost.redisUs) / 1e6;
  const shares = zipfShares(load.accounts, load.skew);
  return {
    nodes,
    postgres: enough((requests + usage + idle) / assumed.postgresCores / busyMax, (servers) => {
      return largestPart(shares, servers) * requests + (usage + idle) / servers <= busiestMax * assumed.postgresCores;
    }),
    redis: enough(redisCores / busyMax, (servers) => largestPart(shares, servers) * redisCores <= busiestMax),
    isRouted,
  };
}

/** The least number of servers with room, from `least` up in steps of 10 %. Gives up after 20 steps, if an account fits on no server. */
function enough(least: number, hasRoom: (servers: number) => boolean): number {
  let servers = Math.max(1, Math.ceil(least));
  for (let step = 0; step < 20 && !hasRoom(servers); step++) servers = Math.ceil(servers * 1.1);
  return servers;
}

/** The share of the requests that the server with the largest accounts gets. */
function largestPart(shares: Float64Array, servers: number): number {
  const parts = new Float64Array(servers);
  for (let account = 0; account < shares.length; account++) parts[hash(account, servers)]! += shares[account]!;
  return parts.reduce((most, part) => Math.max(most, part), 0);
}

export type Outcome = {
  p50Ms: number;
  p99Ms: number;
  /** The busiest server of each kind: the share of its time. */
  busiest: { node: number; postgres: number; redis: number };
};

/** Simulates `requests` requests that arrive at random. Each waits for its node, its Redis, a connection of the node, and its PostgreSQL. */
export function simulate(costs: Costs, load: Load, cluster: Cluster, requests: number, seed: number): Outcome {
  const random = randomOf(seed);
  const shares = zipfShares(load.accounts, load.skew);
  const account = picker(shares, random);
  const kind = picker(Object.values(load.mix), random);
  const kinds = Object.keys(load.mix).map((name) => kindOf(costs, name));
  const nodes = stations(cluster.nodes, 1);
  const redis = stations(cluster.redis, 1);
  const writers = stations(cluster.nodes, assumed.writers);
  const readers = stations(cluster.nodes, assumed.readers);
  const postgres = stations(cluster.postgres, assumed.postgresCores);
  // usage and heartbeats also keep PostgreSQL busy, so it serves requests more slowly
  const { usage, nodes: idle } = postgresCores(costs, load, cluster);
  const slower = 1 / Math.max(0.05, 1 - (usage + idle) / (cluster.postgres * assumed.postgresCores));
  const exponential = (mean: number): number => -Math.log(1 - random()) * mean;
  const times = new Float64Array(requests);
  let now = 0;
  for (let n = 0; n < requests; n++) {
    now += exponential(1e6 / load.perSecond);
    const who = account();
    const cost = kinds[kind()]!;
    const node = (hash(who, cluster.nodes) + Math.floor(random() * nodesOf(shares[who]!, load.perSecond, cluster))) % cluster.nodes;
    let at = serve(nodes[node]!, now, exponential(cost.nodeUs));
    if (cost.redisUs > 0) at = serve(redis[hash(who, cluster.redis)]!, at + assumed.roundTripUs, exponential(cost.redisUs));
    if (cost.roundTrips > 0) {
      const pool = (cost.isWrite ? writers : readers)[node]!;
      const begins = Math.max(at, earliest(pool));
      const answered = serve(postgres[hash(who, cluster.postgres)]!, begins, exponential(cost.postgresUs * slower));
      at = answered + cost.roundTrips * assumed.roundTripUs;
      occupy(pool, begins, at);
    }
    times[n] = at - now;
  }
  times.sort();
  const busiestOf = (all: Station[]): number => Math.max(...all.map(({ busyUs, free }) => busyUs / free.length)) / now;
  return {
    p50Ms: times[Math.floor(requests * 0.5)]! / 1_000,
    p99Ms: times[Math.floor(requests * 0.99)]! / 1_000,
    busiest: { node: busiestOf(nodes), postgres: busiestOf(postgres), redis: busiestOf(redis) },
  };
}

/** A server: when each of its cores or connections is free again (µs), and for how long they were busy. */
type Station = { free: Float64Array; busyUs: number };

function stations(count: number, width: number): Station[] {
  return Array.from({ length: count }, () => ({ free: new Float64Array(width), busyUs: 0 }));
}

/** Gives work that arrives at `at` and takes `us` to the first free core, and returns when it is done. */
function serve(station: Station, at: number, us: number): number {
  const begins = Math.max(at, earliest(station));
  occupy(station, begins, begins + us);
  return begins + us;
}

function earliest({ free }: Station): number {
  let least = free[0]!;
  for (const at of free) if (at < least) least = at;
  return least;
}

function occupy(station: Station, from: number, until: number): void {
  const first = station.free.indexOf(earliest(station));
  station.free[first] = until;
  station.busyUs += until - from;
}

/** The result of the last call: a row of a table asks for the same million shares six times. */
let last = { accounts: 0, skew: 0, shares: new Float64Array() };

/** The shares of accounts by Zipf's law, the largest first; they add up to 1. */
export function zipfShares(accounts: number, skew: number): Float64Array {
  if (last.accounts === accounts && last.skew === skew) return last.shares;
  const shares = new Float64Array(accounts);
  let sum = 0;
  for (let rank = 0; rank < accounts; rank++) sum += shares[rank] = (rank + 1) ** -skew;
  for (let rank = 0; rank < accounts; rank++) shares[rank]! /= sum;
  last = { accounts, skew, shares };
  return shares;
}

/** Returns a function that picks an index with the probability of its share. */
function picker(shares: ArrayLike<number>, random: () => number): () => number {
  const sums = new Float64Array(shares.length);
  let sum = 0;
  for (let index = 0; index < shares.length; index++) sums[index] = sum += shares[index]!;
  return () => {
    const wanted = random() * sum;
    let [low, high] = [0, shares.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}

/** Returns the server of an account. */
function hash(account: number, servers: number): number {
  return (Math.imul(account + 1, 0x9e3779b1) >>> 0) % servers;
}

/** Returns a generator of numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
