import type { Context } from "../platform/context.ts";
import type { Settings } from "./settings.ts";
import type { Tracing } from "./tracing.ts";

/** The context of the parts, with what only the composition root knows. */
export type AppContext = Context & {
  settings: Settings;
  /** Undefined without a collector. */
  tracing: Tracing | undefined;
};
