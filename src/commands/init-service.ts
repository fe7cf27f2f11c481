import { administer } from "./administer.ts";
import { numeric } from "./command.ts";
import type { OfService } from "./init.ts";

/** `init` with the service that runs here, or whose data folder is here. */
export const ofService: OfService = {
  publicUrl: async (io) => (await administer(io, "service.describe", {})).publicUrl,
  newKey: async (io, account) => (await administer(io, "keys.create", { account: numeric(account), publishable: true })).key,
  async openReference() {
    const { requireReference, writeReference } = await import("./reference.ts");
    await requireReference();
    return writeReference;
  },
};
