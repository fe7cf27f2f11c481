import { join } from "node:path";
import { serverUrl } from "../platform/parse.ts";
import { type Environment, parsed, setting, type Setting, withEnvFile } from "./setting.ts";

/** The settings of the commands that call a service. */
export const clientTable = {
  clientUrl: setting({
    name: "PETSTORE_URL",
    fallback: "http://localhost:8080",
    parse: serverUrl(["http:", "https:"]),
    allowed: "an http or https URL without user and password",
    meaning: "The service that commands such as `import` and `deploy` call",
  }),
  clientKey: setting({
    name: "PETSTORE_KEY",
    fallback: "",
    parse: (text) => text,
    allowed: "an API key",
    meaning: "The API key of these commands; without it they use a profile of `petstore login`",
    secret: true,
  }),
  clientProfile: setting({
    name: "PETSTORE_PROFILE",
    fallback: "",
    parse: (text) => (text === "" || profileName.test(text) ? text : undefined),
    allowed: "the name of a profile",
    meaning: "The profile of `petstore login` that these commands use. Default: that of the last login",
  }),
};

/** The form of a profile's name. */
export const profileName = /^[a-z0-9][a-z0-9._-]{0,63}$/i;

export type ClientSettings = {
  url: string;
  /** Whether PETSTORE_URL is set. */
  isUrlSet: boolean;
  key: string;
  profile: string;
  /** Where the profiles are; undefined if the environment names no home folder. */
  profilesFile: string | undefined;
};

/** Reads only these settings: an invalid setting of a local service must not prevent calls to another one. @throws SettingError */
export function loadClientSettings(env: Environment = process.env): ClientSettings {
  const all = withEnvFile(env);
  const read = <T>(entry: Setting<T>): T => parsed(entry, all) as T;
  return {
    url: read(clientTable.clientUrl),
    isUrlSet: Boolean(all["PETSTORE_URL"]),
    key: read(clientTable.clientKey),
    profile: read(clientTable.clientProfile),
    profilesFile: profilesFileIn(all),
  };
}

function profilesFileIn(env: Environment): string | undefined {
  const home = env["HOME"] && join(env["HOME"], ".config");
  const folder = env["XDG_CONFIG_HOME"] || env["APPDATA"] || home;
  return folder ? join(folder, "petstore", "profiles.json") : undefined;
}
