import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Refusal } from "../calls/refusal.ts";
import { texts } from "../texts/texts.ts";

/** After a 412, reads what is edited anew: the form then begins with how it stands. */
export function ReloadIfChanged({ error, onReload }: { error: Error | null; onReload: () => void }): ReactNode {
  if (!(error instanceof Refusal) || error.code !== "precondition_failed") return null;
  return (
    <Button variant="light" mb="sm" onClick={onReload}>
      {texts.store.reload}
    </Button>
  );
}
