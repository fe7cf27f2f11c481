import { Checkbox, PasswordInput } from "@mantine/core";
import { Suspense, use, type ReactNode } from "react";
import { useIdle } from "../../frame/use-idle.ts";
import { tryItTexts } from "../../texts/en-reference.ts";
import { formatTime } from "../../texts/texts.ts";
import { useDescription } from "../context.ts";
import type { Operation } from "../description.ts";
import { KeyOfferContext } from "./key-offer.ts";
import { useKey } from "./key.ts";
import styles from "./panel.module.css";

/** The field for the key that all panels share. The key is typed, or created for all operations. */
export function KeyField({ operation: { scopes } }: { operation: Operation }): ReactNode {
  const { operations } = useDescription();
  const { key, isKept, made, change, takeMade } = useKey();
  const offerKey = use(KeyOfferContext);
  const isIdle = useIdle();
  const isEnough = made !== undefined && scopes.every((scope) => made.scopes.includes(scope));
  return (
    <div className={styles.key}>
      {isIdle && scopes.length > 0 && !isEnough && (
        <Suspense>{offerKey({ scopes: scopesWith(scopes, operations), onMade: takeMade })}</Suspense>
      )}
      <PasswordInput
        label={tryItTexts.key}
        placeholder="psk_…"
        value={key}
        onChange={(event) => change({ key: event.currentTarget.value, isKept })}
        autoComplete="off"
        spellCheck={false}
        visibilityToggleButtonProps={{ "aria-label": tryItTexts.showKey, tabIndex: 0 }}
      />
      {made ? (
        <output className={styles.made}>{tryItTexts.made(formatTime(made.expiresAt))}</output>
      ) : (
        <Checkbox
          mt={8}
          size="sm"
          label={tryItTexts.keepKey}
          checked={isKept}
          onChange={(event) => change({ key, isKept: event.currentTarget.checked })}
        />
      )}
    </div>
  );
}

/** The scopes of all operations. Those for keys are left out unless the operation needs them, because a key with them can make others. */
function scopesWith(own: readonly string[], operations: Operation[]): string[] {
  const common = operations.flatMap(({ scopes }) => scopes).filter((scope) => !scope.startsWith("keys:"));
  return [...new Set([...common, ...own])];
}
