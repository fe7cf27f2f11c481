import { PasswordInput } from "@mantine/core";
import { useEffect, useState, type ReactNode } from "react";
import { onConfirmationRequired } from "../calls/confirmation.ts";
import { ask, type CurrentUser } from "../calls/members.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { texts } from "../texts/texts.ts";
import styles from "./confirm-password.module.css";

type Resolve = (confirmed: boolean) => void;

/** Asks for the password again when a call needs it. */
export function PasswordConfirmation({ member }: { member: CurrentUser["member"] }): ReactNode {
  const [waiting, setWaiting] = useState<Resolve>();
  useEffect(() => onConfirmationRequired(() => new Promise<boolean>((resolve) => setWaiting(() => resolve))), []);
  if (!waiting) return null;
  function close(confirmed: boolean): void {
    setWaiting(undefined);
    waiting?.(confirmed);
  }
  return <ConfirmPasswordDialog email={member.email ?? ""} onConfirmed={() => close(true)} onClose={() => close(false)} />;
}

type Props = { email: string; onConfirmed: () => void; onClose: () => void };

function ConfirmPasswordDialog({ email, onConfirmed, onClose }: Props): ReactNode {
  const form = useCallForm({ initial: { password: "" }, send: (body) => ask("POST /confirm", { body }), afterwards: onConfirmed });
  return (
    <Dialog title={texts.account.confirmTitle} onClose={onClose}>
      <p className={styles.lead}>{texts.account.confirmText}</p>
      <CallForm form={form} submit={texts.account.confirmAction} onCancel={onClose}>
        {/* for password managers, which store it with the password */}
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        <PasswordInput label={texts.account.currentPassword} autoComplete="current-password" data-autofocus {...form.text("password")} />
      </CallForm>
    </Dialog>
  );
}
