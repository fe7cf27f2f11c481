import { Badge, Code } from "@mantine/core";
import type { ReactNode } from "react";
import { serverNow } from "../calls/server-clock.ts";
import type { Key } from "../calls/members.ts";
import { Moment } from "../parts/moment.tsx";
import { RowMenu, type RowAction } from "../parts/row-menu.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { formatMoment, texts } from "../texts/texts.ts";
import styles from "./keys.module.css";
import { hasAllScopes } from "./scopes.ts";

type Props = { keys: Key[]; onRotate?: (key: Key) => void; onRevoke?: (key: Key) => void };

/** The keys with their scopes, their strikes and, for owners, a menu. */
export function KeysTable({ keys, ...menu }: Props): ReactNode {
  return <RowsTable label={texts.keys.page} columns={columnsFor(menu)} rows={keys} keyOf={({ id }) => id} />;
}

function columnsFor({ onRotate, onRevoke }: Omit<Props, "keys">): Column<Key>[] {
  const columns: Column<Key>[] = [
    { id: "key", header: texts.keys.key, width: "160px", cell: (key) => <Name of={key} /> },
    { id: "scopes", header: texts.keys.scopes, cell: (key) => <Scopes of={key} /> },
    { id: "created", header: texts.keys.created, width: "130px", cell: ({ createdAt }) => <Moment at={createdAt} /> },
    { id: "expires", header: texts.keys.expires, width: "130px", cell: (key) => <Expiry of={key} /> },
    { id: "used", header: texts.keys.lastUsed, width: "130px", cell: ({ lastUsedAt }) => <MomentOrNever at={lastUsedAt} /> },
    { id: "ban", header: texts.keys.ban, width: "140px", cell: (key) => <BanDistance of={key} /> },
  ];
  if (!onRotate || !onRevoke) return columns;
  const actionsOf = (key: Key): RowAction[] => [
    ...(hasExpired(key) ? [] : [{ label: texts.keys.rotate, run: () => onRotate(key) }]),
    { label: texts.keys.revoke, run: () => onRevoke(key), isDangerous: true },
  ];
  const menu = (key: Key): ReactNode => <RowMenu of={`${key.prefix}…`} actions={actionsOf(key)} />;
  return [...columns, { id: "actions", header: texts.dashboard.actions, width: "64px", isActions: true, cell: menu }];
}

function Name({ of: { name, prefix, publishable, origins } }: { of: Key }): ReactNode {
  return (
    <span className={styles.name}>
      <span>{name}</span>
      <Code>{prefix}…</Code>
      <span className={styles.kind}>{publishable ? texts.keys.kind.publishable : texts.keys.kind.secret}</span>
      {origins.length > 0 && <span className={styles.kind}>{texts.keys.onlyFrom(origins)}</span>}
    </span>
  );
}

function Scopes({ of: { scopes, publishable } }: { of: Key }): ReactNode {
  if (hasAllScopes(scopes, publishable)) return <span title={scopes.join(", ")}>{texts.keys.allScopes}</span>;
  return <span className={styles.scopes}>{scopes.join(", ")}</span>;
}

function Expiry({ of: key }: { of: Key }): ReactNode {
  if (key.expiresAt === null) return texts.keys.never;
  if (!hasExpired(key)) return <Moment at={key.expiresAt} />;
  return (
    <Badge className={styles.bad} title={formatMoment(new Date(key.expiresAt))}>
      {texts.keys.expired}
    </Badge>
  );
}

/** The strikes left until a ban, or the end of the current ban. */
function BanDistance({ of: { bannedUntil, strikes, strikesRemaining } }: { of: Key }): ReactNode {
  if (bannedUntil !== null) {
    return (
      <span className={styles.banned}>
        {texts.keys.bannedUntil} <Moment at={bannedUntil} />
      </span>
    );
  }
  return <span className={strikes > 0 ? styles.near : undefined}>{texts.keys.strikesLeft(strikesRemaining)}</span>;
}

function MomentOrNever({ at }: { at: string | null }): ReactNode {
  return at === null ? texts.keys.never : <Moment at={at} />;
}

function hasExpired({ expiresAt }: Key): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= serverNow();
}
