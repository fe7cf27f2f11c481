import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import type { CurrentUser, SecondStep } from "../../calls/members.ts";
import { beginSession, sessionQuery } from "../../dashboard/session.ts";
import { Main } from "../../frame/main.tsx";
import { Waiting } from "../../frame/waiting.tsx";
import { takeLinkToken } from "./address.ts";
import { CodeSignIn } from "./code-sign-in.tsx";
import { LinkSignIn } from "./link-sign-in.tsx";
import { PasswordSignIn } from "./password-sign-in.tsx";
import { SetPassword } from "./set-password.tsx";
import styles from "./sign-in.module.css";

/**
 * `/sign-in`: signs in with a link, a passkey or a password, then asks for the second step if the member has one. After a first link, asks
 * for a new password before anything else. With `?add=true` it signs in to one more account.
 */
export function SignInPage(): ReactNode {
  const client = useQueryClient();
  const { history } = useRouter();
  const { to = "/dashboard", add = false } = useSearch({ from: "/sign-in" });
  const [token, setToken] = useState(takeLinkToken);
  /** Whether the password was right and the second step is next. */
  const [isSecondStep, setIsSecondStep] = useState(false);
  const { data: session, isPending } = useQuery({ ...sessionQuery, enabled: token === undefined });
  const isAdding = add && session?.member.hasPassword === true;
  const isSignedIn = token === undefined && !isAdding && session?.member.hasPassword === true;
  useEffect(() => {
    if (isSignedIn) history.replace(to);
  }, [isSignedIn, history, to]);

  // a link pasted into this page's own tab changes only the fragment
  useEffect(() => {
    const take = (): void => {
      const found = takeLinkToken();
      if (found !== undefined) setToken(found);
    };
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);

  function welcome(answer: CurrentUser | SecondStep): void {
    setToken(undefined);
    setIsSecondStep("secondFactors" in answer);
    if ("secondFactors" in answer) return;
    beginSession(client, answer, to);
    if (isAdding && answer.member.id === session.member.id) history.replace(to);
  }
  return (
    <Main className={styles.page}>
      <div className={styles.card}>{content()}</div>
    </Main>
  );

  function content(): ReactNode {
    if (token !== undefined) return <LinkSignIn key={token} token={token} onSignedIn={welcome} onGiveUp={() => setToken(undefined)} />;
    if (isSecondStep) return <CodeSignIn onSignedIn={welcome} onStartAgain={() => setIsSecondStep(false)} />;
    if (session && !isSignedIn && !isAdding) return <SetPassword session={session} onSet={welcome} />;
    if (isPending || isSignedIn) return <Waiting lines={4} />;
    return <PasswordSignIn kept={session ?? undefined} onSignedIn={welcome} />;
  }
}
