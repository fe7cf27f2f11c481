import { Checkbox, PasswordInput } from "@mantine/core";
import type { ReactNode } from "react";
import { texts } from "../../texts/texts.ts";
import { useKey } from "./key.ts";

/** The key that all panels share. */
export function KeyField(): ReactNode {
  const { key, isKept, change } = useKey();
  return (
    <div>
      <PasswordInput
        label={texts.tryIt.key}
        placeholder="psk_…"
        value={key}
        onChange={(event) => change({ key: event.currentTarget.value, isKept })}
        autoComplete="off"
        spellCheck={false}
        visibilityToggleButtonProps={{ "aria-label": texts.tryIt.showKey, tabIndex: 0 }}
      />
      <Checkbox
        mt={8}
        size="sm"
        label={texts.tryIt.keepKey}
        checked={isKept}
        onChange={(event) => change({ key, isKept: event.currentTarget.checked })}
      />
    </div>
  );
}
