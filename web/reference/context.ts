import { createContext, use } from "react";
import type { Description } from "./description.ts";

export const DescriptionContext = createContext<Description | undefined>(undefined);

/** The description, inside of ReferenceFrame. */
export function useDescription(): Description {
  const description = use(DescriptionContext);
  if (!description) throw new Error("useDescription belongs inside of ReferenceFrame");
  return description;
}
