import { Type, type Static, type TSchema } from "typebox";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/db/database.ts";
import { bodyValidator } from "../platform/http/validation.ts";
import type { Announcer } from "../platform/nodes/nodes.ts";
import type { EdgePorts } from "../publishing/domains/domains.ts";
import { Problem } from "../platform/problem.ts";

/** What the operations work with. */
export type Parts = {
  db: Database;
  clock: Clock;
  /** The cache of verified keys, which every change must be reported to. */
  verifier: { forgetAccount(accountId: number): void; forgetKey(keyId: number): void };
  /** What keeps bans. Rejects with `unavailable` where that cannot be reached. */
  limiter: { unban(keyId: number): boolean | Promise<boolean> };
  announcer: Announcer;
  publicUrl: string;
  /** Where people reach published sites. */
  ports: EdgePorts;
};

export const id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

/** An operation whose input is validated by a schema of its fields; messages name the field alone. */
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

/** The refusal of an id that nothing has. */
export function absent(what: string, which: number): Problem {
  return new Problem("not_found", `There is no ${what} ${which}.`);
}
