import { stringify } from "yaml";
import { describe, type Description } from "../platform/http/description.ts";
import errorExamples from "./error-examples.json" with { type: "json" };
import { apiOperations, sunsetsOf } from "./operations.ts";
import type { Settings } from "./settings.ts";

/** `describedOrigin` is the origin of the addresses in the description. Default: they are relative. */
type DescriptionOptions = Pick<Settings, "getPetSunset"> & { describedOrigin?: string | undefined };

/** The description of the API as a service with these settings serves it. */
export function descriptionOf(settings: DescriptionOptions): Description {
  return describe(apiOperations, { errors: errorExamples, sunsets: sunsetsOf(settings), origin: settings.describedOrigin });
}

/** The text of `/openapi.json`. */
export function descriptionAsJson(settings: DescriptionOptions): string {
  return JSON.stringify(descriptionOf(settings), undefined, 2);
}

/** The text of `/openapi.yaml`. */
export function descriptionAsYaml(settings: DescriptionOptions): string {
  return stringify(descriptionOf(settings));
}
