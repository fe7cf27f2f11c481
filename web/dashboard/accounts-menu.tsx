import { Button, Menu } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import type { BrowserSession } from "../calls/members.ts";
import { notifyError } from "../parts/notices.ts";
import { texts } from "../texts/texts.ts";
import styles from "./navigation.module.css";
import { browserSessionsQuery, signOutOfAll, switchTo } from "./session.ts";

/** The most accounts that one browser can be signed in to. */
const accountsMax = 5;
const words = texts.dashboard.accounts;

/** A menu of the accounts that this browser is signed in to. It rereads them whenever it opens, so that ended sessions disappear. */
export function AccountsMenu(): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const { data: accounts, error } = useQuery({ ...browserSessionsQuery, enabled: isOpen, gcTime: 0 });
  const others = accounts?.filter(({ current }) => !current) ?? [];
  const isFull = others.length >= accountsMax - 1;

  return (
    <Menu opened={isOpen} onChange={setOpen} position="top-start" width={280}>
      <Menu.Target>
        <Button size="xs" variant="default">
          {words.open}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {error && <Menu.Item disabled>{error.message}</Menu.Item>}
        {!accounts && !error && <Menu.Item disabled>{texts.loading}</Menu.Item>}
        {others.map((account) => (
          <Menu.Item key={account.memberId} onClick={() => void switchTo(account.memberId).catch(notifyError)}>
            <AccountName of={account} />
          </Menu.Item>
        ))}
        {others.length > 0 && <Menu.Divider />}
        {isFull ? (
          <Menu.Item disabled>{words.full(accountsMax)}</Menu.Item>
        ) : (
          <Menu.Item onClick={() => void navigate({ to: "/sign-in", search: { add: true } })}>{words.add}</Menu.Item>
        )}
        {others.length > 0 && <Menu.Item onClick={() => void signOutOfAll(client).catch(notifyError)}>{words.signOutOfAll}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}

/** The shop and the email of an account. */
function AccountName({ of: { account, email } }: { of: BrowserSession }): ReactNode {
  return (
    <span className={styles.choice}>
      <span className={styles.email}>{account.name}</span>
      {email !== null && <span className={styles.label}>{email}</span>}
    </span>
  );
}
