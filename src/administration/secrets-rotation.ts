import type { Database } from "../platform/db/database.ts";
import { operatorOperation, type OperatorOperations } from "../platform/http/operation.ts";
import { Type } from "../platform/json-schema.ts";
import { liveSecretsKeys } from "../platform/nodes/nodes.ts";
import { Problem } from "../platform/problem.ts";
import { idsOf, keysMax, withCurrentKey, type SecretsKeys } from "../platform/secrets.ts";
import { countEncrypted, encryptAgain, usedKeyIds } from "./encrypted-columns.store.ts";
import { addNewKey, dropEarlierKeys, type Secrets } from "./secrets-file.ts";

/** How many batches one step encrypts. */
const batchesPerStep = 5;

/** The keys that encrypt secrets, opened when first needed. */
export type SecretsServices = { secrets: () => Secrets };

/** An operator's operations on the keys that encrypt secrets. */
export const secretsOperations = {
  /**
   * Encrypts some secrets again with the current key. The command calls it until none is left. With `begin` it first checks the nodes' keys,
   * and makes the new key of a key file. `keys` are the ids of the keys in the caller's `SECRETS_KEY`. With `dropEarlier` it makes no key, and
   * the last call removes the earlier keys from the key file.
   */
  "secrets.rotate": operatorOperation(
    {
      begin: Type.Optional(Type.Boolean()),
      dropEarlier: Type.Optional(Type.Boolean()),
      keys: Type.Optional(Type.Array(Type.String({ maxLength: 8 }), { maxItems: 10 })),
    },
    async ({ db, body: { begin = false, dropEarlier = false, keys }, services: { secrets } }) => {
      if (begin) await beginRotation(db, secrets(), { expected: keys, dropEarlier });
      return rotationStep(db, secrets(), dropEarlier);
    },
  ),
} satisfies OperatorOperations<SecretsServices>;

type RotationStep = {
  /** The id of the current key, and those of the earlier keys. */
  current: string;
  earlier: string[];
  /** How many secrets this step encrypted again, and how many an earlier key still encrypts. */
  rotated: number;
  left: number;
  /** How many nodes still encrypt with an earlier key: restart them before you remove that key. */
  nodesBehind: number;
  /** Whether the keys are in a file of the data folder, which keeps the earlier ones until `dropEarlier`. */
  inFile: boolean;
};

/** The options of a rotation. */
type Rotation = {
  /** The ids of the keys that the command holds, if it holds any. */
  expected: readonly string[] | undefined;
  /** Makes no new key, and removes the earlier ones from the key file once no secret in the database is encrypted with them. */
  dropEarlier: boolean;
};

/**
 * Checks that this process has every key that encrypted a secret in the database.
 *
 * @throws Error with one line that names the missing key and the command to run
 */
export async function requireKnownKeys(db: Database, keys: SecretsKeys): Promise<void> {
  const unknown = await unknownKeys(db, keys);
  if (unknown.length === 0) return;
  throw new Error(
    `secrets are encrypted with key ${unknown.join(" and ")}, which SECRETS_KEY does not hold: add it after the others, ` +
      "run `petstore secrets rotate`, and remove it when that command says so",
  );
}

async function unknownKeys(db: Database, keys: SecretsKeys): Promise<string[]> {
  return [...(await usedKeyIds(db))].filter((id) => !keys.byId.has(id)).toSorted();
}

/**
 * Prepares a rotation. Adds a new key if the keys are in a file; otherwise checks that every node can decrypt what the rotation will write.
 *
 * @throws Problem `invalid_request`, before anything has changed
 */
async function beginRotation(db: Database, { keys, path }: Secrets, { expected, dropEarlier }: Rotation): Promise<void> {
  if (expected !== undefined && expected.join() !== idsOf(keys).join())
    throw refused("The service runs with other keys than this command's SECRETS_KEY: restart the service with this command's keys first.");
  const unknown = await unknownKeys(db, keys);
  if (unknown.length > 0)
    throw refused(`Secrets are encrypted with key ${unknown.join(" and ")}, which SECRETS_KEY does not hold: add it after the others.`);
  if (path !== null) {
    if (!dropEarlier) await addKeyUnlessBegun(db, path, keys);
    return;
  }
  if (dropEarlier) throw refused("--drop-earlier is for secrets.key: start every node with the first key of SECRETS_KEY alone instead.");
  if (keys.byId.size === 1)
    throw refused(
      "SECRETS_KEY holds no earlier key: make a new key with `openssl rand -base64 32`, " +
        "start every node with SECRETS_KEY=NEW,OLD, and run this again.",
    );
  const nodes = await liveSecretsKeys(db);
  const without = nodes.filter((ids) => !ids?.split(",").includes(keys.current.id)).length;
  if (without > 0)
    throw refused(
      `${without} of ${nodes.length} nodes could not decrypt what key ${keys.current.id} encrypts: ` +
        "start every node with SECRETS_KEY=OLD,NEW first, then with NEW,OLD, and run this again.",
    );
}

/** Adds a key to the file, unless an earlier key still encrypts a secret: then the last rotation was interrupted, and this one continues it. */
async function addKeyUnlessBegun(db: Database, path: string, keys: SecretsKeys): Promise<void> {
  const used = await usedKeyIds(db);
  if (
    idsOf(keys)
      .slice(1)
      .some((id) => used.has(id))
  )
    return;
  if (keys.byId.size === keysMax)
    throw refused(
      `secrets.key holds ${keysMax} keys, which is the most: remove earlier ones with \`petstore secrets rotate --drop-earlier\`.`,
    );
  addNewKey(path, keys);
}

/**
 * Encrypts some secrets again with the current key. The key file keeps the earlier keys, because older copies and backups may need them; with
 * `dropEarlier`, the last step removes them.
 */
async function rotationStep(db: Database, { keys, path }: Secrets, dropEarlier: boolean): Promise<RotationStep> {
  const earlier = idsOf(keys).slice(1);
  let rotated = 0;
  for (let batch = 0; batch < batchesPerStep; batch++) {
    const count = await encryptAgain(db, earlier, (envelope, owner) => withCurrentKey(keys, envelope, owner));
    if (count === 0) break;
    rotated += count;
  }
  await db.write(async () => undefined); // Waits for this process's queued writes: one may still save a secret that an earlier key encrypted.
  const left = await countEncrypted(db, earlier);
  const nodesBehind = (await liveSecretsKeys(db)).filter((ids) => ids?.split(",")[0] !== keys.current.id).length;
  if (path !== null && left === 0 && dropEarlier) dropEarlierKeys(path, keys);
  return { current: keys.current.id, earlier, rotated, left, nodesBehind, inFile: path !== null };
}

function refused(message: string): Problem {
  return new Problem("invalid_request", message);
}
