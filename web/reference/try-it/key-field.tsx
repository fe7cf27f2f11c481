import { Checkbox, PasswordInput } from "@mantine/core";
import { Suspense, use, type ReactNode } from "react";
import { useIdle } from "../../frame/use-idle.ts";
import { formatTime, texts } from "../../texts/texts.ts";
import type { Operation } from "../description.ts";
import { KeyOfferContext } from "./key-offer.ts";
import { useKey } from "./key.ts";
import styles from "./panel.module.css";

/** The field for the key that all panels share. The key is typed, or created for the operation. */
export function KeyField({ operation: { summary, scopes } }: { operation: Operation }): ReactNode {
  const { key, isKept, made, change, takeMade } = useKey();
  const offerKey = use(KeyOfferContext);
  const isIdle = useIdle();
  const isEnough = made !== undefined && scopes.every((scope) => made.scopes.includes(scope));
  return (
    <div className={styles.key}>
      {isIdle && scopes.length > 0 && !isEnough && <Suspense>{offerKey({ summary, scopes, onMade: takeMade })}</Suspense>}
      <PasswordInput
        label={texts.tryIt.key}
        placeholder="psk_…"
        value={key}
        onChange={(event) => change({ key: event.currentTarget.value, isKept })}
        autoComplete="off"
        spellCheck={false}
        visibilityToggleButtonProps={{ "aria-label": texts.tryIt.showKey, tabIndex: 0 }}
      />
      {made ? (
        <output className={styles.made}>{texts.tryIt.made(formatTime(made.expiresAt), made.scopes)}</output>
      ) : (
        <Checkbox
          mt={8}
          size="sm"
          label={texts.tryIt.keepKey}
          checked={isKept}
          onChange={(event) => change({ key, isKept: event.currentTarget.checked })}
        />
      )}
    </div>
  );
}
