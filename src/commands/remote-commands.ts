import { apiCall } from "./api.ts";
import type { Command } from "./command.ts";
import type { Environment } from "./connection.ts";
import { deploying } from "./deploy.ts";
import { deploymentCommands } from "./deployments.ts";
import { domainCommands } from "./domains.ts";
import { eventCommands } from "./events.ts";
import { exporting } from "./export.ts";
import { importing } from "./import.ts";
import { login, logout, profilesList, profilesUse } from "./login.ts";
import { nounCommands } from "./nouns.ts";
import { projectCommands } from "./projects.ts";
import { serviceStatus } from "./status.ts";

/** The commands that need only the API of a service. The package without the service has them too. */
export function remoteCommands(environment: Environment): Command[] {
  return [
    login,
    logout,
    profilesList,
    profilesUse,
    serviceStatus(environment),
    importing(environment),
    exporting(environment),
    ...projectCommands(environment),
    deploying(environment),
    ...deploymentCommands(environment),
    ...domainCommands(environment),
    ...eventCommands(environment),
    ...nounCommands(environment),
    apiCall(environment),
  ];
}
