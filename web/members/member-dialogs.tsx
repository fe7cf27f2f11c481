import { Button, Group, Radio, Stack, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { ask, type Invited, type Member, type Role } from "../calls/members.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Moment } from "../parts/moment.tsx";
import { notify } from "../parts/notices.ts";
import { Secret } from "../parts/secret.tsx";
import { factorTexts } from "../texts/en-factors.ts";
import { texts } from "../texts/texts.ts";
import styles from "./account.module.css";

/** A dialog that creates a sign-in link for an email and shows it once. */
export function InviteMember({ onInvited, onClose }: { onInvited: () => void; onClose: () => void }): ReactNode {
  const [invited, setInvited] = useState<Invited>();
  const form = useCallForm<{ email: string; role: Role }, Invited>({
    initial: { email: "", role: "member" },
    send: (body) => ask("POST /members", { body }),
    onDone: (answer) => {
      setInvited(answer);
      onInvited();
    },
  });
  if (invited) return <LinkDialog invited={invited} onClose={onClose} />;
  return (
    <Dialog title={texts.account.invite} onClose={onClose}>
      <CallForm form={form} submit={texts.account.inviteAction} onCancel={onClose}>
        <Stack gap="md">
          <TextInput label={texts.account.email} type="email" autoComplete="off" data-autofocus {...form.text("email")} />
          <Radio.Group label={texts.account.role} value={form.values.role} onChange={(role) => form.set("role", role)}>
            <Stack gap="xs" mt="xs">
              {(["member", "owner"] as const).map((role) => (
                <Radio key={role} value={role} label={texts.dashboard[role]} description={texts.account.roleHints[role]} />
              ))}
            </Stack>
          </Radio.Group>
        </Stack>
      </CallForm>
    </Dialog>
  );
}

type Props = { of: Member; onDone: () => void; onClose: () => void };

/** A dialog that ends a member's password, second step and sessions, and shows a sign-in link to choose a new password. */
export function ResetMember({ of: { id, email }, onDone, onClose }: Props): ReactNode {
  const [invited, setInvited] = useState<Invited>();
  if (invited) return <LinkDialog invited={invited} onClose={onClose} />;
  return (
    <ConfirmDialog
      title={texts.account.resetTitle(email ?? "")}
      action={texts.account.resetAction}
      onConfirm={async () => setInvited(await ask("POST /members/{id}/reset", { id }))}
      onDone={onDone}
      onClose={onClose}
      afterwards={() => {}}
    >
      {texts.account.resetText}
    </ConfirmDialog>
  );
}

/** Asks before an owner removes the second factors of another member. */
export function ResetFactors({ of: { id, email }, onDone, onClose }: Props): ReactNode {
  return (
    <ConfirmDialog
      title={factorTexts.resetTitle(email ?? "")}
      action={factorTexts.resetAction}
      onConfirm={() => ask("DELETE /members/{id}/factors", { id })}
      onDone={() => {
        onDone();
        notify(factorTexts.resetDone(email ?? ""));
      }}
      onClose={onClose}
    >
      {factorTexts.resetText}
    </ConfirmDialog>
  );
}

/** Asks before owners give up their role, which only another owner can restore. */
export function StepDown({ of: { id }, onDone, onClose }: Props): ReactNode {
  return (
    <ConfirmDialog
      title={texts.account.stepDownTitle}
      action={texts.account.stepDownAction}
      onConfirm={() => ask("PATCH /members/{id}", { id, body: { role: "member" } })}
      onDone={() => {
        onDone();
        notify(texts.account.steppedDown);
      }}
      onClose={onClose}
    >
      {texts.account.stepDownText}
    </ConfirmDialog>
  );
}

/** Asks before a member is removed. */
export function RemoveMember({ of: { id, email }, isSelf, onDone, onClose }: Props & { isSelf: boolean }): ReactNode {
  const name = email ?? texts.account.noEmail;
  function done(): void {
    onDone();
    notify(texts.account.removed(name));
  }
  return (
    <ConfirmDialog
      title={texts.account.removeTitle(name)}
      action={texts.account.removeAction}
      onConfirm={() => ask("DELETE /members/{id}", { id })}
      onDone={done}
      onClose={onClose}
    >
      {isSelf ? texts.account.removeSelfText : texts.account.removeText}
    </ConfirmDialog>
  );
}

function LinkDialog({ invited: { member, link, expiresAt }, onClose }: { invited: Invited; onClose: () => void }): ReactNode {
  return (
    <Dialog title={texts.account.invitedTitle} size="lg" onClose={onClose}>
      <Secret label={texts.account.link} value={link} />
      <p className={styles.note}>
        {texts.account.linkText(member.email ?? "")} <Moment at={expiresAt} />.
      </p>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onClose}>
          {texts.dashboard.done}
        </Button>
      </Group>
    </Dialog>
  );
}
