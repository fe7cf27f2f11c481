import { programVersion } from "../platform/program-version.ts";
import { accountsCreate, accountsDelete, accountsList, accountsSetPlan } from "./accounts.ts";
import { audit } from "./audit.ts";
import { backup } from "./backup.ts";
import { certificatesReplace } from "./certificates.ts";
import type { Command, Io } from "./command.ts";
import { completing } from "./completion.ts";
import { description } from "./description.ts";
import { ofService } from "./init-service.ts";
import { initialising } from "./init.ts";
import { keysCreate, keysList, keysRevoke, keysRotate, keysUnban } from "./keys.ts";
import { membersInvite, membersList, membersRemove, membersReset } from "./members.ts";
import { move } from "./move.ts";
import { privacy } from "./privacy.ts";
import { runProgram } from "./program.ts";
import { remoteCommands } from "./remote-commands.ts";
import { restore } from "./restore.ts";
import { secretsRotate } from "./secrets.ts";
import { acceptState, compact, doctor, repair, serve, settings } from "./service.ts";
import { migrate, upgrade } from "./upgrade.ts";
import { verify } from "./verify.ts";

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
  audit,
  privacy,
  initialising(ofService),
  ...remoteCommands,
  backup,
  restore,
  verify,
  acceptState,
  upgrade,
  migrate,
  move,
  repair,
  compact,
  secretsRotate,
  certificatesReplace,
  description,
  settings,
  doctor,
  completing(() => commands),
];

/** Runs a command of the service. Returns its exit code. */
export function petstore(args: string[], io: Io): Promise<number> {
  return runProgram({ version: programVersion(), commands }, args, io);
}
