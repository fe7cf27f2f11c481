import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import type { CurrentUser, SecondStep } from "../../calls/members.ts";
import { beginSession, sessionQuery } from "../../dashboard/session.ts";
import { Main } from "../../frame/main.tsx";
import { Waiting } from "../../frame/waiting.tsx";
import { CodeSignIn } from "./code-sign-in.tsx";
import { LinkSignIn } from "./link-sign-in.tsx";
import { takeLinkToken } from "./address.ts";
import { PasswordSignIn } from "./password-sign-in.tsx";
import { SetPassword } from "./set-password.tsx";
import styles from "./sign-in.module.css";

/** `/sign-in`: signs in by a link or by a password, with a second step if the member has one; after a first link, asks for a password before anything else. With `?add=true` it signs in to one more account. */
export function SignInPage(): ReactNode {
  const client = useQueryClient();
  const { history } = useRouter();
  const { to = "/dashboard", add = false } = useSearch({ from: "/sign-in" });
  const [token, setToken] = useState(takeLinkToken);
  /** Whether the password was right and the second step is next. */
  const [isHalf, setIsHalf] = useState(false);
  const { data: session, isPending } = useQuery({ ...sessionQuery, enabled: token === undefined });
  const isAdding = add && session?.member.hasPassword === true;
  const isIn = token === undefined && !isAdding && session?.member.hasPassword === true;
  useEffect(() => {
    if (isIn) history.replace(to);
  }, [isIn, history, to]);

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
    setIsHalf("secondFactors" in answer);
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
    if (isHalf) return <CodeSignIn onSignedIn={welcome} onStartAgain={() => setIsHalf(false)} />;
    if (session && !isIn && !isAdding) return <SetPassword session={session} onSet={welcome} />;
    if (isPending || isIn) return <Waiting lines={4} />;
    return <PasswordSignIn kept={session ?? undefined} onSignedIn={welcome} />;
  }
}
