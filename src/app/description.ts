import { stringify } from "yaml";
import { describe, type Description } from "../platform/http/description.ts";
import errorExamples from "./error-examples.json" with { type: "json" };
import { apiOperations, sunsetsOf } from "./operations.ts";
import type { Settings } from "./settings.ts";

type Dates = Pick<Settings, "getPetSunset">;

/** The description of the API as a service with these settings serves it. */
export function descriptionOf(settings: Dates): Description {
  return describe(apiOperations, { errors: errorExamples, sunsets: sunsetsOf(settings) });
}

/** The text of `/openapi.json`. */
export function descriptionAsJson(settings: Dates): string {
  return JSON.stringify(descriptionOf(settings), undefined, 2);
}

/** The text of `/openapi.yaml`. */
export function descriptionAsYaml(settings: Dates): string {
  return stringify(descriptionOf(settings));
}
