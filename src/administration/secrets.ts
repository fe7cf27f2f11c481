import { Type } from "../platform/json-schema.ts";
import { beginRotation, rotationStep } from "./secrets-rotation.ts";
import { operation, type Parts } from "./operation.ts";

/** An operator's operations on the keys that encrypt secrets. */
export function secretsOperations({ db, secrets }: Parts) {
  return {
    /**
     * Encrypts some secrets again with the current key. The command calls it until none is left. With `begin` it first checks the nodes' keys,
     * and makes the new key of a key file. `keys` are the ids of the keys in the caller's `SECRETS_KEY`. With `dropEarlier` it makes no key, and
     * the last call removes the earlier keys from the key file.
     */
    "secrets.rotate": operation(
      {
        begin: Type.Optional(Type.Boolean()),
        dropEarlier: Type.Optional(Type.Boolean()),
        keys: Type.Optional(Type.Array(Type.String({ maxLength: 8 }), { maxItems: 10 })),
      },
      async ({ begin = false, dropEarlier = false, keys }) => {
        if (begin) await beginRotation(db, secrets(), { expected: keys, dropEarlier });
        return rotationStep(db, secrets(), dropEarlier);
      },
    ),
  };
}
