import { Type } from "../platform/json-schema.ts";
import { Problem } from "../platform/problem.ts";
import { countFormer, askToReplaceAll } from "../publishing/certificates/former-authority.ts";
import { operation, type Parts } from "../administration/operation.ts";

/** An operator's operations on certificates. */
export function certificateOperations({ db, clock, directoryUrl }: Parts) {
  return {
    /**
     * Has the certificates of other authorities than the configured one replaced, trusted ones too, as fast as the budget allows; of one host only, if
     * it is given. Returns how many are left.
     */
    "certificates.replace": operation({ hostname: Type.Optional(Type.String({ maxLength: 253 })) }, async ({ hostname }) => {
      if (directoryUrl === "")
        throw new Problem("invalid_request", "ACME_DIRECTORY_URL is not set, so there is no authority to issue certificates.");
      const now = clock();
      await askToReplaceAll(db, directoryUrl, hostname?.toLowerCase(), now);
      const { remaining, kept, most } = await countFormer(db, directoryUrl, now);
      return { remaining, kept, most, directoryUrl };
    }),
  };
}
