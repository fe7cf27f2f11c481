import type { ReactNode } from "react";
import { useLater } from "../frame/use-later.ts";

const load = () => import("./past-imports-list.tsx").then(({ PastImportsList }) => PastImportsList);

/** The past imports, once the page is idle. */
export function PastImports(): ReactNode {
  const { code: List } = useLater("past imports", load);
  return List && <List />;
}
