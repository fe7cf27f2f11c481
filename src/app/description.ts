import { stringify } from "yaml";
import { describe, type Description } from "../platform/http/description.ts";
import errorExamples from "./error-examples.json" with { type: "json" };
import { apiOperations, sunsetsOf } from "./operations.ts";
import type { Settings } from "./settings.ts";

/** The description of the API as a service with these settings serves it. `origin`: of the addresses in it. Default: they are relative. */
export function descriptionOf(settings: Pick<Settings, "getPetSunset">, origin?: string): Description {
  return describe(apiOperations, { errors: errorExamples, sunsets: sunsetsOf(settings), origin });
}

/** The text of `/openapi.json`. */
export function descriptionAsJson(settings: Pick<Settings, "getPetSunset">, origin: string | undefined): string {
  return JSON.stringify(descriptionOf(settings, origin), undefined, 2);
}

/** The text of `/openapi.yaml`. */
export function descriptionAsYaml(settings: Pick<Settings, "getPetSunset">, origin: string | undefined): string {
  return stringify(descriptionOf(settings, origin));
}
