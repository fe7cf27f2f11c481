import { Button, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { ask, type CurrentUser } from "../../calls/members.ts";
import { Refusal } from "../../calls/refusal.ts";
import { usePageTitle } from "../../frame/page-title.ts";
import { CallForm, useCallForm } from "../../parts/call-form.tsx";
import { texts } from "../../texts/texts.ts";
import { PasskeySignIn } from "./passkey-sign-in.tsx";
import styles from "./sign-in.module.css";

type Props = { onSignedIn: (user: CurrentUser) => void; onStartAgain: () => void };

/** The second step of signing in: a code of the authenticator app, or a recovery code. */
export function CodeSignIn(props: Props): ReactNode {
  usePageTitle(texts.factors.signInTitle);
  const [isRecovery, setIsRecovery] = useState(false);
  return (
    <>
      <h1>{texts.factors.signInTitle}</h1>
      <p className={styles.lead}>{isRecovery ? texts.factors.signInRecovery : texts.factors.signInLead}</p>
      {/* a new form for each kind of code, so that no typed text stays */}
      <CodeForm key={String(isRecovery)} isRecovery={isRecovery} {...props} />
      <Button mt="md" fullWidth variant="default" onClick={() => setIsRecovery(!isRecovery)}>
        {isRecovery ? texts.factors.withApp : texts.factors.withRecovery}
      </Button>
      <PasskeySignIn onSignedIn={props.onSignedIn} />
      <Button mt="xs" fullWidth variant="subtle" onClick={props.onStartAgain}>
        {texts.factors.startAgain}
      </Button>
    </>
  );
}

function CodeForm({ isRecovery, onSignedIn, onStartAgain }: Props & { isRecovery: boolean }): ReactNode {
  const form = useCallForm({ initial: { code: "" }, send: (body) => ask("POST /sign-in/code", { body }), onDone: onSignedIn });
  if (form.error instanceof Refusal && form.error.status === 401) {
    return (
      <>
        <p role="alert">{texts.factors.tooLate}</p>
        <Button fullWidth onClick={onStartAgain}>
          {texts.factors.startAgain}
        </Button>
      </>
    );
  }
  return (
    <CallForm form={form} submit={texts.factors.continue}>
      <TextInput
        label={isRecovery ? texts.factors.recoveryCode : texts.factors.code}
        inputMode={isRecovery ? "text" : "numeric"}
        autoComplete={isRecovery ? "off" : "one-time-code"}
        autoCapitalize="none"
        spellCheck={false}
        {...form.text("code")}
      />
    </CallForm>
  );
}
