import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import type { CurrentUser } from "../../calls/members.ts";
import { beginSession, sessionQuery } from "../../dashboard/session.ts";
import { Main } from "../../frame/main.tsx";
import { Waiting } from "../../frame/waiting.tsx";
import { LinkSignIn } from "./link-sign-in.tsx";
import { takeLinkToken } from "./link-token.ts";
import { PasswordSignIn } from "./password-sign-in.tsx";
import { SetPassword } from "./set-password.tsx";
import styles from "./sign-in.module.css";

/** `/sign-in`: signs in by a link or by a password; after a first link, asks for a password before anything else. */
export function SignInPage(): ReactNode {
  const client = useQueryClient();
  const { history } = useRouter();
  const { to = "/dashboard" } = useSearch({ from: "/sign-in" });
  const [token, setToken] = useState(takeLinkToken);
  const { data: session, isPending } = useQuery({ ...sessionQuery, enabled: token === undefined });
  const isIn = token === undefined && session?.member.hasPassword === true;
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

  function welcome(standing: CurrentUser): void {
    setToken(undefined);
    beginSession(client, standing);
  }
  return (
    <Main className={styles.page}>
      <div className={styles.card}>{content()}</div>
    </Main>
  );

  function content(): ReactNode {
    if (token !== undefined) return <LinkSignIn key={token} token={token} onSignedIn={welcome} onGiveUp={() => setToken(undefined)} />;
    if (session && !isIn) return <SetPassword session={session} onSet={welcome} />;
    if (isPending || isIn) return <Waiting lines={4} />;
    return <PasswordSignIn onSignedIn={welcome} />;
  }
}
