// Exports for other folders, apart from the stores.
export { parseBudget } from "./budget.ts";
export { encryptedColumns } from "./encrypted-columns.store.ts";
export { decryptSecret, idsOf, parseSecretsKeys, secretsKeysText, type SecretsKeys } from "../../platform/secrets.ts";
export type { Secrets } from "./secrets-file.ts";
export { beginRotation, rotationStep } from "./secrets-rotation.ts";
