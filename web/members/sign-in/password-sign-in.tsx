import { PasswordInput, Stack, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { ask, type CurrentUser, type SecondStep } from "../../calls/members.ts";
import { usePageTitle } from "../../frame/page-title.ts";
import { CallForm, useCallForm } from "../../parts/call-form.tsx";
import { texts } from "../../texts/texts.ts";
import { KeptAccount, OtherAccounts } from "./other-accounts.tsx";
import { PasskeySignIn } from "./passkey-sign-in.tsx";
import styles from "./sign-in.module.css";

type Props = {
  /** The session that stays when another account is added. */
  kept: CurrentUser | undefined;
  onSignedIn: (answer: CurrentUser | SecondStep) => void;
};

/** The form for signing in with email and password. */
export function PasswordSignIn({ kept, onSignedIn }: Props): ReactNode {
  const title = kept ? texts.signIn.addTitle : texts.signIn.title;
  usePageTitle(title);
  const form = useCallForm({
    initial: { email: "", password: "" },
    send: (body) => ask("POST /sign-in", { body }),
    onDone: onSignedIn,
  });
  return (
    <>
      <h1>{title}</h1>
      {kept ? <KeptAccount session={kept} /> : <p className={styles.lead}>{texts.signIn.lead}</p>}
      <CallForm form={form} submit={texts.signIn.submit}>
        <Stack gap="md">
          <TextInput label={texts.signIn.email} type="email" autoComplete="username" required {...form.text("email")} />
          <PasswordInput label={texts.signIn.password} autoComplete="current-password" required {...form.text("password")} />
        </Stack>
      </CallForm>
      <PasskeySignIn onSignedIn={onSignedIn} />
      {/* the service sends no mail */}
      <p className={styles.help}>{texts.signIn.forgotten}</p>
      {!kept && <OtherAccounts />}
    </>
  );
}
