import { createContext, use } from "react";
import type { Description } from "./description.ts";

export const DescriptionContext = createContext<Description | undefined>(undefined);

/** Returns the API description. Only inside ReferenceFrame. */
export function useDescription(): Description {
  const description = use(DescriptionContext);
  if (!description) throw new Error("useDescription was called outside ReferenceFrame.");
  return description;
}
