import { Problem } from "../../platform/problem.ts";
import type { Decision } from "./windows.ts";

/** The problem of a request that is refused because of its limits; undefined where it passes. */
export function refusalOf({ verdict, retryAfterSeconds }: Decision): Problem | undefined {
  switch (verdict) {
    case "pass":
      return undefined;
    case "key_banned":
      return new Problem("key_banned", `This key is banned for ${retryAfterSeconds} seconds more: it went on after being refused.`);
    case "unavailable":
      return new Problem("unavailable", `Too many requests wait to be counted. Try again in ${retryAfterSeconds} seconds.`);
    case "rate_limit_exceeded":
      return new Problem("rate_limit_exceeded", `The request limit is reached. Try again in ${retryAfterSeconds} seconds.`);
  }
}
