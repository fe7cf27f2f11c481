import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { CurrentUser } from "../calls/members.ts";
import { Badge } from "../parts/badge.tsx";
import { notifyError } from "../parts/notices.ts";
import { texts } from "../texts/texts.ts";
import { AccountsMenu } from "./accounts-menu.tsx";
import styles from "./navigation.module.css";
import { dashboardPages, pageAt, type DashboardPage } from "./pages.tsx";
import { signOut } from "./session.ts";

/** `pageAt` decides which page is current; a link can only match its own address and those below it. */
const onlyItself = { exact: true, includeSearch: false };

/** The dashboard's pages by group, below the account's name and above the signed-in member. */
export function Navigation({ session: { account, member } }: { session: CurrentUser }): ReactNode {
  const groups = Map.groupBy(dashboardPages, ({ group }) => group);
  return (
    <nav className={styles.navigation} aria-label={texts.dashboard.navigation}>
      <div className={styles.account}>
        <span className={styles.name}>{account.name}</span>
        <Badge tone="quiet">{texts.dashboard.plans[account.plan]}</Badge>
      </div>
      {[...groups].map(([group, pages]) => (
        <PageLinks key={group} title={texts.dashboard.groups[group]} pages={pages} />
      ))}
      <Person member={member} />
    </nav>
  );
}

function PageLinks({ title, pages }: { title: string; pages: DashboardPage[] }): ReactNode {
  const current = useLocation({ select: ({ pathname }) => pageAt(pathname) });
  return (
    <>
      <h2 className={styles.group}>{title}</h2>
      <ul className={styles.list} aria-label={title}>
        {pages.map(({ to, label, icon: Icon }) => (
          <li key={to}>
            <Link to={to} className={styles.link} activeOptions={onlyItself} aria-current={to === current ? "page" : undefined}>
              <Icon />
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

function Person({ member }: Pick<CurrentUser, "member">): ReactNode {
  const client = useQueryClient();
  return (
    <div className={styles.person}>
      <span className={styles.label}>{texts.dashboard.signedInAs}</span>
      <span className={styles.email}>
        <BrokenAtSign text={member.email ?? ""} />
      </span>
      <span className={styles.label}>{texts.dashboard[member.role]}</span>
      <div className={styles.buttons}>
        <Button size="xs" variant="default" onClick={() => void signOut(client).catch(notifyError)}>
          {texts.dashboard.signOut}
        </Button>
        <AccountsMenu />
      </div>
    </div>
  );
}

/** An email address, which a narrow place breaks before its sign rather than within a word. */
function BrokenAtSign({ text }: { text: string }): ReactNode {
  const at = text.lastIndexOf("@");
  return (
    <>
      {text.slice(0, at)}
      <wbr />
      {text.slice(at)}
    </>
  );
}
