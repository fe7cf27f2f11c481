import type { Logger } from "../platform/log.ts";
import type { Called } from "../platform/socket.ts";

/** The fields whose identifiers are logged. Other fields, such as keys, links and emails, are never logged. */
const idNames = new Set(["id", "account", "accountId", "keyId", "memberId", "projectId"]);

/** Logs an administrative command: its name, its operator, and the identifiers in its input and result. */
export function logCommand(log: Pick<Logger, "info">, called: Called): void {
  const { operation, operator, input } = called;
  if (operation === "service.describe") return; // commands call it, not operators
  const command = operation
    .slice(0, 100)
    .replace(".", " ")
    .replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const outcome = "refused" in called ? { refused: called.refused } : { made: idsIn(called.result) };
  log.info({ command, operator, target: idsIn(input), ...outcome }, "administrative command");
}

/** The identifiers of a value: those of its own fields, and `account.id` for a nested account. */
function idsIn(value: unknown): Record<string, number> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const ids = Object.entries(value).flatMap(([name, field]): [string, number][] => {
    if (!idNames.has(name)) return [];
    const own = isRow(field) ? field.id : (field as unknown);
    return typeof own === "number" ? [[name, own]] : [];
  });
  return ids.length > 0 ? Object.fromEntries(ids) : undefined;
}

function isRow(value: unknown): value is { id: unknown } {
  return typeof value === "object" && value !== null && "id" in value;
}
