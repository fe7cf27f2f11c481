import { api } from "./api.ts";
import type { Command } from "./command.ts";
import { deploy } from "./deploy.ts";
import { domainCommands } from "./domains.ts";
import { eventCommands } from "./events.ts";
import { exportCommand } from "./export.ts";
import { importCommand } from "./import.ts";
import { login, logout, profilesList, profilesUse } from "./login.ts";
import { nounCommands } from "./nouns.ts";
import { deploymentCommands, projectCommands } from "./projects.ts";
import { status } from "./status.ts";

/** The commands that need only the API of a service. The package without the service has them too. */
export const remoteCommands: Command[] = [
  login,
  logout,
  profilesList,
  profilesUse,
  status,
  importCommand,
  exportCommand,
  ...projectCommands,
  deploy,
  ...deploymentCommands,
  ...domainCommands,
  ...eventCommands,
  ...nounCommands,
  api,
];
