import { mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { PetStore } from "../../client/client.ts";
import { loadClientSettings, profileName } from "../app/client-settings.ts";
import { writeDurably } from "../platform/files.ts";
import { attempt } from "../platform/parse.ts";
import { Problem } from "../platform/problem.ts";
import type { Io, Options } from "./command.ts";

/** The service to call and the key to use; the key is empty if none is set. */
export type Connect = { url: string; key: string };

/** The service and key that a command uses if its options name none. */
export type Defaults = Connect & {
  /** Whether the environment names the service. */
  isUrlSet?: boolean;
  /** Returns the profile with this name. Default: that of the environment or of the last login, if there is one. */
  profile?: (name?: string) => Profile | undefined;
};

export const connectionOptions = {
  url: { value: "URL", about: "the address of the service. Default: PETSTORE_URL, else that of the profile" },
  key: {
    value: "KEY",
    about:
      "the key to use. Default: PETSTORE_KEY, else that of the profile, which are safer, because other users of the machine can see arguments",
  },
  profile: { value: "NAME", about: "the profile of `petstore login` to use. Default: PETSTORE_PROFILE, else that of the last login" },
} as const satisfies Options;

/** The service and key of the environment, and the profiles of its user. */
export function defaultsOf({ env }: Io): Defaults {
  const { url, isUrlSet, key, profile: chosen, profilesFile } = loadClientSettings(env);
  const profile = (name = chosen): Profile | undefined => {
    const stored = readProfiles(profilesFile);
    if (name !== "") return profileNamed(stored, name);
    return stored.current === null ? undefined : profileNamed(stored, stored.current);
  };
  return { url, key, isUrlSet, profile };
}

/** The service and key of a command: its options, else the environment, else a profile. @throws Problem `invalid_request` if there is no key */
export function connectionOf(options: Record<string, unknown>, defaults: Defaults): Connect {
  const { url, key: given } = serviceOf(options, defaults);
  const key = given.trim();
  if (key === "") throw new Problem("invalid_request", "no key is set: run `petstore login`, set PETSTORE_KEY or add --key KEY");
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Problem("invalid_request", "the key contains invalid characters");
  return { url, key };
}

/**
 * As `connectionOf`, with an empty key if none is set. A profile's key goes to the profile's service alone. `--key` replaces the key of the profile, not
 * its address.
 */
export function serviceOf(options: Record<string, unknown>, { url, key, isUrlSet = true, profile }: Defaults): Connect {
  const given = options as { url?: string; key?: string; profile?: string };
  const isNamed = given.profile !== undefined;
  const hasOwnAddress = given.url !== undefined || isUrlSet;
  const needsProfile = isNamed || (given.key === undefined ? key.trim() === "" : !hasOwnAddress);
  const stored = needsProfile ? profile?.(given.profile) : undefined;
  if (stored === undefined) return { url: given.url ?? url, key: given.key ?? key };
  const called = given.url ?? (isUrlSet && !isNamed ? url : stored.url);
  if (given.key !== undefined) return { url: called, key: given.key };
  if (originOf(called) !== originOf(stored.url))
    throw new Problem(
      "invalid_request",
      `the profile's key is for ${stored.url}, not for ${called}: add --key, or log in there with --profile NAME`,
    );
  return { url: called, key: stored.key };
}

/** Creates a client of the service of a command, as `connect` does. @throws Problem `invalid_request` if there is no key */
export async function clientOf(options: Record<string, unknown>, io: Io): Promise<PetStore> {
  return connect(connectionOf(options, defaultsOf(io)), linesTo(io));
}

/**
 * Creates a client of the service that waits for its limits and reports each wait.
 *
 * @param tell prints a line, as `linesTo` does
 */
export async function connect(connection: Connect, tell: (line: string) => void): Promise<PetStore> {
  const { openClient } = await import("../../client/client.ts");
  const onWait = (reason: string, ms: number): void => tell(`Waiting ${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s: ${reason}.`);
  return openClient({ ...connection, onWait });
}

/** Returns a function that writes lines to standard error. */
export function linesTo({ stderr }: Pick<Io, "stderr">): (line: string) => void {
  return (line) => void stderr.write(`${line}\n`);
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

/** A service and a key, as `petstore login` has stored them. */
export type Profile = { url: string; key: string };
/** `current` is the profile that commands use unless they name another. */
export type Profiles = { current: string | null; profiles: Record<string, Profile> };

const fileBytesMax = 1_048_576;
const profilesMax = 100;

/** Reads the profiles; none if there is no file. @throws Problem `invalid_request` if other users can read the file, or if it does not hold profiles */
export function readProfiles(file: string | undefined): Profiles {
  const stats = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  if (file === undefined || stats === undefined) return { current: null, profiles: {} };
  if (process.platform !== "win32" && (stats.mode & 0o077) !== 0)
    throw new Problem("invalid_request", `${file} holds keys, and other users can read it: run \`chmod 600 ${file}\``);
  const stored = stats.isFile() && stats.size <= fileBytesMax ? attempt((): unknown => JSON.parse(readFileSync(file, "utf8"))) : undefined;
  if (!isProfiles(stored))
    throw new Problem("invalid_request", `${file} is not a file of profiles: delete it and run \`petstore login\` again`);
  return stored;
}

/** Writes the profiles to a file that only this user can read. Creates its folder if absent. @throws Problem `invalid_request` if it cannot */
export async function writeProfiles(file: string | undefined, profiles: Profiles): Promise<void> {
  if (file === undefined) throw new Problem("invalid_request", "there is no home folder for profiles: set HOME or XDG_CONFIG_HOME");
  if (Object.keys(profiles.profiles).length > profilesMax)
    throw new Problem("invalid_request", `there are ${profilesMax} profiles already: log out of one`);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    await writeDurably(file, `${JSON.stringify(profiles, undefined, 2)}\n`, 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Problem("invalid_request", `${file} cannot be written (${code ?? message})`);
  }
}

/** @throws Problem `not_found` */
export function profileNamed({ profiles }: Profiles, name: string): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found === undefined) throw new Problem("not_found", `there is no profile ${name}: \`petstore profiles list\` lists them`);
  return found;
}

function isProfiles(value: unknown): value is Profiles {
  const { current, profiles } = (value ?? {}) as Partial<Profiles>;
  if (typeof profiles !== "object" || profiles === null || (typeof current !== "string" && current !== null)) return false;
  return Object.entries(profiles).every(
    ([name, profile]) =>
      profileName.test(name) && typeof profile?.url === "string" && URL.canParse(profile.url) && typeof profile.key === "string",
  );
}
