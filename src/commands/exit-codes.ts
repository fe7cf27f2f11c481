import type { ProblemCode } from "../platform/problem.ts";

type ExitClass = { code: number; name: string; meaning: string; problems?: readonly ProblemCode[] };

/** The exit codes of all commands. A code that no class names is a failure. */
export const exitClasses = [
  { code: 0, name: "done", meaning: "the command did what it was asked" },
  { code: 1, name: "failed", meaning: "it failed for another reason, a setting is wrong, or a check found a fault" },
  {
    code: 2,
    name: "usage",
    meaning: "the command line, a value or a file is wrong; nothing was changed",
    problems: ["invalid_request", "payload_too_large", "unsupported_media_type", "not_acceptable", "headers_too_large"],
  },
  {
    code: 3,
    name: "not found",
    meaning: "what the command names does not exist",
    problems: ["not_found", "unknown_reference", "operation_sunset", "events_expired"],
  },
  {
    code: 4,
    name: "refused",
    meaning: "a rule forbids it as things stand, such as a name that is taken or a plan's storage that is full",
    problems: [
      "confirmation_required",
      "plan_required",
      "storage_limit_reached",
      "pet_in_use",
      "pet_not_available",
      "insufficient_stock",
      "order_complete",
      "category_exists",
      "category_not_empty",
      "slug_taken",
      "domain_taken",
      "status_follows_stock",
      "member_exists",
      "import_closed",
      "key_replaced",
      "project_not_deployed",
      "domain_not_verified",
      "deployment_not_ready",
      "idempotency_key_in_use",
      "idempotency_key_reused",
      "precondition_failed",
      "session_changed",
    ],
  },
  { code: 5, name: "no access", meaning: "the key is wrong, revoked or lacks a scope", problems: ["unauthorized", "forbidden"] },
  { code: 6, name: "unavailable", meaning: "the service cannot be reached, or is too busy", problems: ["unavailable"] },
  {
    code: 7,
    name: "limited",
    meaning: "the account is over its limits, or the key is banned",
    problems: ["rate_limit_exceeded", "key_banned"],
  },
] as const satisfies ExitClass[];

const classes: readonly ExitClass[] = exitClasses;

/** The exit code for the code of an error. Default: 1. */
export function exitCodeOf(code: string): number {
  return classes.find(({ problems = [] }) => problems.some((problem) => problem === code))?.code ?? 1;
}
