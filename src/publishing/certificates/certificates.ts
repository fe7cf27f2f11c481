export { parseBudget, letsEncryptBudget, type Budget } from "./budget.ts";
export { decryptSecret, encryptSecret, newSecretsKey, parseSecretsKeys, type SecretsKeys } from "./secrets.ts";
