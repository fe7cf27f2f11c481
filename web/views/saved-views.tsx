import { Button } from "@mantine/core";
import { lazy, Suspense, useState, type ReactNode } from "react";
import { texts } from "../texts/texts.ts";
import type { ViewsProps } from "./queries.ts";

const ViewsMenu = lazy(() => import("./views-menu.tsx"));

/** The button of the menu of saved views, whose code is loaded when it is first pressed. */
export function SavedViews(props: ViewsProps): ReactNode {
  const [isWanted, setWanted] = useState(false);
  const button = (
    <Button variant="default" aria-haspopup="menu" aria-expanded={false} onClick={() => setWanted(true)}>
      {texts.store.views}
    </Button>
  );
  return isWanted ? (
    <Suspense fallback={button}>
      <ViewsMenu {...props} />
    </Suspense>
  ) : (
    button
  );
}
