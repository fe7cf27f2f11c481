import { loadSettings } from "../app/settings.ts";
import { accountsCreate, accountsDelete, accountsList, accountsSetPlan } from "./accounts.ts";
import type { Command, Io } from "./command.ts";
import { deploying } from "./deploy.ts";
import { description } from "./description.ts";
import { domainCommands } from "./domains.ts";
import { exporting } from "./export.ts";
import { importing } from "./import.ts";
import { initialising } from "./init.ts";
import { keysCreate, keysList, keysRevoke, keysRotate, keysUnban } from "./keys.ts";
import { membersInvite, membersList, membersRemove, membersReset } from "./members.ts";
import { migrate } from "./migrate.ts";
import { projectCommands } from "./projects.ts";
import { repair } from "./repair.ts";
import { serve } from "./serve.ts";
import { settings } from "./settings.ts";

/** Every command. Commands import their dependencies when they run, so that loading this list is fast. */
export const commands: Command[] = [
  serve,
  accountsCreate,
  accountsList,
  accountsSetPlan,
  accountsDelete,
  keysCreate,
  keysList,
  keysRotate,
  keysRevoke,
  keysUnban,
  membersInvite,
  membersList,
  membersReset,
  membersRemove,
  importing(client),
  exporting(client),
  initialising(client),
  ...projectCommands(client),
  deploying(client),
  ...domainCommands(client),
  migrate,
  repair,
  description,
  settings,
];

/** The command that the arguments begin with; undefined if there is none. */
export function commandOf(args: string[]): Command | undefined {
  const words = args.slice(0, 2).join(" ");
  return commands.find(({ name }) => name === words) ?? commands.find(({ name }) => name === args[0]);
}

/** The arguments after a command's name. */
export function argumentsOf({ name }: Command, args: string[]): string[] {
  return args.slice(name.split(" ").length);
}

/** The service and key from the environment, for the commands that call the API. */
function client({ env }: Io) {
  const { clientUrl, clientKey } = loadSettings(env);
  return { url: clientUrl, key: clientKey };
}
