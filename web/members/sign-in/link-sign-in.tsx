import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState, type ReactNode } from "react";
import { dashboardKey } from "../../calls/lists.ts";
import { ask, type CurrentUser, type SecondStep } from "../../calls/members.ts";
import { Refusal } from "../../calls/refusal.ts";
import { usePageTitle } from "../../frame/page-title.ts";
import { Waiting } from "../../frame/waiting.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { texts } from "../../texts/texts.ts";
import styles from "./sign-in.module.css";

type Props = { token: string; onSignedIn: (answer: CurrentUser | SecondStep) => void; onGiveUp: () => void };

/**
 * Sends the token of a sign-in link only when the button is pressed, because programs that open links in mail must not use it up. Explains
 * what to do if the link no longer works.
 */
export function LinkSignIn({ token, onSignedIn, onGiveUp }: Props): ReactNode {
  usePageTitle(texts.signIn.title);
  const [isPressed, setIsPressed] = useState(false);
  // a token works once, and a query sends it once, however often the page renders
  const { data, error, refetch } = useQuery({
    queryKey: [dashboardKey, "link", token],
    queryFn: () => ask("POST /sign-in/link", { body: { token } }),
    enabled: isPressed,
    retry: false,
    staleTime: Infinity,
  });
  const welcome = useEffectEvent(onSignedIn);
  useEffect(() => {
    if (data) welcome(data);
  }, [data]);

  if (!isPressed) {
    return (
      <>
        <h1>{texts.signIn.title}</h1>
        <p className={styles.lead}>{texts.signIn.linkLead}</p>
        <Button fullWidth onClick={() => setIsPressed(true)}>
          {texts.signIn.withLink}
        </Button>
      </>
    );
  }
  if (!error) {
    return (
      <>
        <h1>{texts.signIn.byLink}</h1>
        <Waiting lines={3} />
      </>
    );
  }
  const isInvalid = error instanceof Refusal && (error.status === 401 || error.status === 400);
  return (
    <>
      <h1>{isInvalid ? texts.signIn.linkOver : texts.signIn.title}</h1>
      {isInvalid ? <p className={styles.lead}>{texts.signIn.linkOverText}</p> : <ErrorPanel error={error} onRetry={() => void refetch()} />}
      <Button mt="md" variant="default" onClick={onGiveUp}>
        {texts.signIn.withPassword}
      </Button>
    </>
  );
}
