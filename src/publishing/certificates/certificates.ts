export { parseBudget } from "./budget.ts";
export { decryptSecret, parseSecretsKeys, type SecretsKeys } from "./secrets.ts";
