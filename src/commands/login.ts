import { loadClientSettings, profileName } from "../app/client-settings.ts";
import { Problem } from "../platform/problem.ts";
import { answered } from "./calls.ts";
import { columns, UsageError, type Command, type Io } from "./command.ts";
import { connect, connectionOf, linesTo, profileNamed, readProfiles, writeProfiles } from "./connection.ts";
import { firstLine } from "./input-output.ts";

export const login: Command = {
  name: "login",
  summary: "Check a key with a service, and store both as a profile that other commands use",
  options: {
    url: { value: "URL", about: "the address of the service. Default: PETSTORE_URL, else http://localhost:8080" },
    key: { value: "KEY|-", about: "the key; - reads a line of standard input. Default: PETSTORE_KEY, else standard input" },
    profile: { value: "NAME", about: "the name of the profile. Default: default" },
  },
  async run({ options }, io) {
    const { url, key, profilesFile } = loadClientSettings(io.env);
    const name = String(options["profile"] ?? "default");
    if (!profileName.test(name)) throw new UsageError("--profile must be 1 to 64 letters, digits, dots, dashes or underscores");
    const stored = readProfiles(profilesFile); // a wrong file is refused before anything is sent
    const asked = (options["key"] ?? key) || "-";
    const connection = connectionOf(
      { url: options["url"] ?? url, key: asked === "-" ? await firstLine(io, "Key: ") : asked },
      { url, key: "" },
    );
    const client = await connect(connection, linesTo(io));
    const account = await accountOf(client);
    const profile = { url: client.url, key: connection.key };
    await writeProfiles(profilesFile, { current: name, profiles: { ...stored.profiles, [name]: profile } });
    const whose = account === null ? "" : ` as account ${account.id} (${account.name}, ${account.plan})`;
    return { json: { profile: name, url: client.url, account }, text: `Logged in to ${client.url}${whose}. The profile is ${name}.` };
  },
};

/** The account of the key; null if the key is right but may not read it. @throws PetStoreError if the service does not know the key */
async function accountOf(client: Awaited<ReturnType<typeof connect>>): Promise<{ id: number; name: string; plan: string } | null> {
  const call = client.GET("/account");
  if ((await call).error?.code === "forbidden") return null;
  const { id, name, plan } = await answered(call);
  return { id, name, plan };
}

export const logout: Command = {
  name: "logout",
  summary: "Delete a profile; its key stays valid until it is revoked",
  options: { profile: { value: "NAME", about: "the profile. Default: PETSTORE_PROFILE, else that of the last login" } },
  async run({ options }, io) {
    const { profile, profilesFile } = loadClientSettings(io.env);
    const { current, profiles } = readProfiles(profilesFile);
    const name = String(options["profile"] ?? (profile || (current ?? "")));
    if (name === "") throw new Problem("not_found", "there is no profile to log out of");
    profileNamed({ current, profiles }, name);
    const { [name]: _removed, ...left } = profiles;
    await writeProfiles(profilesFile, { current: current === name ? null : current, profiles: left });
    return { json: { profile: name }, text: `The profile ${name} is deleted. Its key stays valid until it is revoked.` };
  },
};

export const profilesList: Command = {
  name: "profiles list",
  summary: "List the profiles without their keys",
  async run(_args, io) {
    const stored = listed(io);
    const rows = stored.map(({ name, url, current }) => [name, url, current ? "yes" : ""]);
    return { json: { profiles: stored }, text: columns(["PROFILE", "SERVICE", "CURRENT"], rows) };
  },
};

export const profilesUse: Command = {
  name: "profiles use",
  summary: "Make a profile the one that commands use",
  operands: ["NAME"],
  async run({ operands: [name = ""] }, io) {
    const { profilesFile } = loadClientSettings(io.env);
    const stored = readProfiles(profilesFile);
    const { url } = profileNamed(stored, name);
    await writeProfiles(profilesFile, { ...stored, current: name });
    return { json: { profile: name, url }, text: `Commands use the profile ${name} (${url}).` };
  },
};

function listed({ env }: Io): { name: string; url: string; current: boolean }[] {
  const { current, profiles } = readProfiles(loadClientSettings(env).profilesFile);
  return Object.entries(profiles).map(([name, { url }]) => ({ name, url, current: name === current }));
}
