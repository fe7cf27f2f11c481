import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Refusal } from "../calls/refusal.ts";
import { texts } from "../texts/texts.ts";

/** Whether a call failed because somebody else has changed the resource since it was read. */
export function isChangedElsewhere(error: Error | null): boolean {
  return error instanceof Refusal && error.code === "precondition_failed";
}

/** After a 412, a button that reads the resource again and resets the form to its current values. */
export function ReloadIfChanged({ error, onReload }: { error: Error | null; onReload: () => void }): ReactNode {
  if (!isChangedElsewhere(error)) return null;
  return (
    <Button variant="light" mb="sm" onClick={onReload}>
      {texts.store.reload}
    </Button>
  );
}
