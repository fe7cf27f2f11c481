import { useEffect } from "react";
import { texts } from "../texts/texts.ts";

/** Names the browser's tab while a page is shown. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${texts.productName}`;
  }, [title]);
}
