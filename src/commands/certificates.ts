import { administer } from "./administer.ts";
import { countOf, type Command } from "./command.ts";

export const certificatesReplace: Command = {
  name: "certificates replace",
  summary: "Replace the certificates of former authorities by those of ACME_DIRECTORY_URL, trusted ones too",
  options: { host: { value: "HOSTNAME", about: "only the certificate of this host" } },
  async run({ options: { host } }, io) {
    const json = await administer(io, "certificates.replace", host === undefined ? {} : { hostname: host });
    const { remaining, kept, directoryUrl } = json;
    const lines = [
      remaining === 0
        ? `Every certificate is of ${directoryUrl}.`
        : `${countOf(remaining, "certificate")} of other authorities will be replaced by ones of ${directoryUrl}, as fast as ACME_BUDGET allows.`,
    ];
    if (kept > 0) lines.push(`${countOf(kept, "trusted certificate")} of other authorities stay.`);
    return { json, text: lines.join("\n") };
  },
};
