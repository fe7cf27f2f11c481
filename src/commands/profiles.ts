import { mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { profileName } from "../app/client-settings.ts";
import { writeDurably } from "../platform/files.ts";
import { Problem } from "../platform/problem.ts";

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
  const stored = stats.isFile() && stats.size <= fileBytesMax ? parsed(file) : undefined;
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

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function isProfiles(value: unknown): value is Profiles {
  const { current, profiles } = (value ?? {}) as Partial<Profiles>;
  if (typeof profiles !== "object" || profiles === null || (typeof current !== "string" && current !== null)) return false;
  return Object.entries(profiles).every(
    ([name, profile]) =>
      profileName.test(name) && typeof profile?.url === "string" && URL.canParse(profile.url) && typeof profile.key === "string",
  );
}
