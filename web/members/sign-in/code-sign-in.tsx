import { Button, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { ask, type CurrentUser } from "../../calls/members.ts";
import { Refusal } from "../../calls/refusal.ts";
import { usePageTitle } from "../../frame/page-title.ts";
import { CallForm, useCallForm } from "../../parts/call-form.tsx";
import { factorTexts } from "../../texts/en-factors.ts";
import { PasskeySignIn } from "./passkey-sign-in.tsx";
import styles from "./sign-in.module.css";

type Props = { onSignedIn: (user: CurrentUser) => void; onStartAgain: () => void };

/** The second step of signing in: a code of the authenticator app, or a recovery code. */
export function CodeSignIn(props: Props): ReactNode {
  usePageTitle(factorTexts.signInTitle);
  const [isRecovery, setIsRecovery] = useState(false);
  return (
    <>
      <h1>{factorTexts.signInTitle}</h1>
      <p className={styles.lead}>{isRecovery ? factorTexts.signInRecovery : factorTexts.signInLead}</p>
      {/* a new form for each kind of code, so that no typed text stays */}
      <CodeForm key={String(isRecovery)} isRecovery={isRecovery} {...props} />
      <Button mt="md" fullWidth variant="default" onClick={() => setIsRecovery(!isRecovery)}>
        {isRecovery ? factorTexts.withApp : factorTexts.withRecovery}
      </Button>
      <PasskeySignIn onSignedIn={props.onSignedIn} />
      <Button mt="xs" fullWidth variant="subtle" onClick={props.onStartAgain}>
        {factorTexts.startAgain}
      </Button>
    </>
  );
}

function CodeForm({ isRecovery, onSignedIn, onStartAgain }: Props & { isRecovery: boolean }): ReactNode {
  const form = useCallForm({ initial: { code: "" }, send: (body) => ask("POST /sign-in/code", { body }), onDone: onSignedIn });
  if (form.error instanceof Refusal && form.error.status === 401) {
    return (
      <>
        <p role="alert">{factorTexts.tooLate}</p>
        <Button fullWidth onClick={onStartAgain}>
          {factorTexts.startAgain}
        </Button>
      </>
    );
  }
  return (
    <CallForm form={form} submit={factorTexts.continue}>
      <TextInput
        label={isRecovery ? factorTexts.recoveryCode : factorTexts.code}
        inputMode={isRecovery ? "text" : "numeric"}
        autoComplete={isRecovery ? "off" : "one-time-code"}
        autoCapitalize="none"
        spellCheck={false}
        {...form.text("code")}
      />
    </CallForm>
  );
}
