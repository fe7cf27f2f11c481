import { useEffect } from "react";
import { texts } from "../texts/texts.ts";

/** Sets the title of the browser's tab while a page is mounted. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${texts.productName}`;
  }, [title]);
}
