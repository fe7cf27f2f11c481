import { Button, Stack } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { CurrentUser } from "../../calls/members.ts";
import { browserSessionsQuery, switchTo } from "../../dashboard/session.ts";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { texts } from "../../texts/texts.ts";
import styles from "./sign-in.module.css";

const words = texts.dashboard.accounts;

/** Says, above the form that adds an account, which account the browser is signed in to, with a link back to it. */
export function KeptAccount({ session: { account, member } }: { session: CurrentUser }): ReactNode {
  return (
    <p className={styles.lead}>
      {words.kept(account.name, member.email)} <Link to="/dashboard">{words.back}</Link>
    </p>
  );
}

/** Offers, below the form, the other accounts that this browser is signed in to, after the current session has ended. */
export function OtherAccounts(): ReactNode {
  const { data: accounts, refetch } = useQuery({ ...browserSessionsQuery, retry: false });
  const switching = useMutation({ mutationFn: switchTo, onError: () => void refetch() });
  const others = accounts?.filter(({ current }) => !current) ?? [];
  if (others.length === 0) return null;
  return (
    <section className={styles.help} aria-labelledby="other-accounts">
      <h2 id="other-accounts" className={styles.others}>
        {words.signedInTo}
      </h2>
      <ErrorPanel error={switching.error} />
      <Stack gap="xs">
        {others.map(({ memberId, account, email }) => (
          <Button key={memberId} variant="default" loading={switching.isPending} onClick={() => switching.mutate(memberId)}>
            {words.goOn(account.name, email)}
          </Button>
        ))}
      </Stack>
    </section>
  );
}
