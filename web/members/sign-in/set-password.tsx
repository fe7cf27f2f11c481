import { PasswordInput, Stack, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { ask, type CurrentUser } from "../../calls/members.ts";
import { usePageTitle } from "../../frame/page-title.ts";
import { CallForm, useCallForm } from "../../parts/call-form.tsx";
import { texts } from "../../texts/texts.ts";
import styles from "./sign-in.module.css";

type Props = { session: CurrentUser; onSet: (user: CurrentUser) => void };

/** A form for the first password, and for the email if the member has none; without both there is no way to sign in again. */
export function SetPassword({ session: { member, account }, onSet }: Props): ReactNode {
  usePageTitle(texts.signIn.setTitle);
  const hasEmail = member.email !== null;
  const form = useCallForm({
    initial: { email: member.email ?? "", password: "" },
    send: ({ email, password }) => ask("PUT /password", { body: hasEmail ? { password } : { password, email } }),
    onDone: onSet,
  });
  return (
    <>
      <h1>{texts.signIn.setTitle}</h1>
      <p className={styles.lead}>{texts.signIn.setLead(account.name)}</p>
      <CallForm form={form} submit={texts.signIn.set}>
        <Stack gap="md">
          {/* for password managers, which save the email with the password, even if the form does not ask for it */}
          <TextInput
            label={texts.signIn.email}
            type="email"
            autoComplete="username"
            required={!hasEmail}
            readOnly={hasEmail}
            {...form.text("email")}
          />
          <PasswordInput
            label={texts.signIn.newPassword}
            description={texts.signIn.newPasswordHint}
            autoComplete="new-password"
            required
            {...form.text("password")}
          />
        </Stack>
      </CallForm>
    </>
  );
}
