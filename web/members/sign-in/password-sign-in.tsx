import { PasswordInput, Stack, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { ask, type CurrentUser } from "../../calls/members.ts";
import { CodeBlock } from "../../frame/code-block.tsx";
import { usePageTitle } from "../../frame/page-title.ts";
import { CallForm, useCallForm } from "../../parts/call-form.tsx";
import { texts } from "../../texts/texts.ts";
import styles from "./sign-in.module.css";

/** The form for signing in with email and password. */
export function PasswordSignIn({ onSignedIn }: { onSignedIn: (standing: CurrentUser) => void }): ReactNode {
  usePageTitle(texts.signIn.title);
  const form = useCallForm({
    initial: { email: "", password: "" },
    send: (body) => ask("POST /sign-in", { body }),
    onDone: onSignedIn,
  });
  return (
    <>
      <h1>{texts.signIn.title}</h1>
      <p className={styles.lead}>{texts.signIn.lead}</p>
      <CallForm form={form} submit={texts.signIn.submit}>
        <Stack gap="md">
          <TextInput label={texts.signIn.email} type="email" autoComplete="username" required {...form.text("email")} />
          <PasswordInput label={texts.signIn.password} autoComplete="current-password" required {...form.text("password")} />
        </Stack>
      </CallForm>
      <HowToGetALink text={texts.signIn.forgotten} command={texts.signIn.resetCommand} />
    </>
  );
}

/** How to get a new link: the service sends no mail. */
export function HowToGetALink({ text, command }: { text: string; command: string }): ReactNode {
  return (
    <div className={styles.help}>
      <p>{text}</p>
      <CodeBlock code={command} language="bash" label={texts.signIn.commandLabel} />
    </div>
  );
}
