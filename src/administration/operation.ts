import { Type, type Static, type TSchema } from "../platform/json-schema.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/db/database.ts";
import { bodyValidator } from "../platform/http/validation.ts";
import type { Announcer } from "../platform/nodes/nodes.ts";
import type { Secrets } from "./secrets-file.ts";
import type { EdgePorts } from "../publishing/domains/hsts.ts";
import { Problem } from "../platform/problem.ts";

/** The parts of the service that the operations use. */
export type Parts = {
  db: Database;
  clock: Clock;
  /** The cache of verified keys, which must forget every key that changes. */
  verifier: { forgetAccount(accountId: number): void; forgetKey(keyId: number): void };
  /** Removes bans. Rejects with `unavailable` if the limiter cannot be reached. */
  limiter: { unban(keyId: number): boolean | Promise<boolean> };
  announcer: Announcer;
  publicUrl: string;
  /** The directory of the configured certificate authority; empty without one. */
  directoryUrl: string;
  /** The keys that encrypt secrets, opened when first needed. */
  secrets: () => Secrets;
  /** The public ports of the edge. */
  ports: EdgePorts;
};

export const id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

/** Makes an operation that validates its input against a schema of its fields. Messages name the field without `body.`. */
export function operation<P extends Record<string, TSchema>, R>(
  fields: P,
  run: (input: Static<ReturnType<typeof Type.Object<P>>>) => Promise<R>,
) {
  const schema = Type.Object(fields, { additionalProperties: false });
  const validate = bodyValidator(schema);
  return async (input: unknown): Promise<R> => {
    try {
      validate(input);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const { code, message, details } = error;
      throw new Problem(code, message.replace(/^body\./, ""), details && { details });
    }
    return run(input as Static<typeof schema>);
  };
}

/** The refusal of an unknown id. */
export function absent(what: string, which: number): Problem {
  return new Problem("not_found", `There is no ${what} ${which}.`);
}
