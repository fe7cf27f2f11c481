import { Code } from "@mantine/core";
import type { ReactNode } from "react";
import type { Key } from "../calls/members.ts";
import { Badge } from "../parts/badge.tsx";
import { Ago, Moment } from "../parts/moment.tsx";
import { RowMenu, type RowAction } from "../parts/row-menu.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { formatMoment, texts } from "../texts/texts.ts";
import styles from "./keys.module.css";
import { linkedKeys, type LinkedKey } from "./pairs.ts";
import { hasExpired, useNextExpiry } from "./queries.ts";
import { areasBeside, hasDefaultScopes } from "./scopes.ts";

type Props = { keys: Key[]; onRotate?: (key: Key) => void; onRevoke?: (key: Key) => void; onUnban?: (key: Key) => void };

/** The keys with their scopes, their state and, for owners, a menu. A rotated key follows its replacement. */
export function KeysTable({ keys, ...menu }: Props): ReactNode {
  useNextExpiry(keys);
  return <RowsTable label={texts.keys.page} columns={columnsFor(menu)} rows={linkedKeys(keys)} keyOf={({ id }) => id} />;
}

function columnsFor({ onRotate, onRevoke, onUnban }: Omit<Props, "keys">): Column<LinkedKey>[] {
  const columns: Column<LinkedKey>[] = [
    { id: "key", header: texts.keys.key, width: "210px", cell: (key) => <Name of={key} /> },
    { id: "scopes", header: texts.keys.scopes, cell: (key) => <Scopes of={key} /> },
    { id: "created", header: texts.keys.created, width: "122px", cell: ({ createdAt }) => <Ago at={createdAt} /> },
    { id: "expires", header: texts.keys.expires, width: "122px", cell: (key) => <Expiry of={key} /> },
    { id: "used", header: texts.keys.lastUsed, width: "122px", cell: ({ lastUsedAt }) => <MomentOrNever at={lastUsedAt} /> },
    { id: "state", header: texts.keys.state, width: "140px", cell: (key) => <State of={key} /> },
  ];
  if (!onRotate || !onRevoke || !onUnban) return columns;
  const actionsOf = (key: Key): RowAction[] => [
    ...(key.bannedUntil === null ? [] : [{ label: texts.keys.unban, run: () => onUnban(key) }]),
    ...(hasExpired(key) ? [] : [{ label: texts.keys.rotate, run: () => onRotate(key) }]),
    { label: texts.keys.revoke, run: () => onRevoke(key), isDangerous: true },
  ];
  const menu = (key: Key): ReactNode => <RowMenu of={`${key.prefix}…`} actions={actionsOf(key)} />;
  return [...columns, { id: "actions", header: texts.dashboard.actions, width: "64px", isActions: true, cell: menu }];
}

function Name({ of: { name, prefix, publishable, origins, original, replacement } }: { of: LinkedKey }): ReactNode {
  return (
    <span className={styles.name} data-replaced={replacement !== undefined}>
      <span>{name}</span>
      <Code>{prefix}…</Code>
      <span className={styles.kind}>{publishable ? texts.keys.kind.publishable : texts.keys.kind.secret}</span>
      {origins.length > 0 && <span className={styles.kind}>{texts.keys.onlyFrom(origins)}</span>}
      {original && <span className={styles.kind}>{texts.keys.replaces(original.name, original.prefix)}</span>}
      {replacement && <span className={styles.kind}>{texts.keys.replacedBy(replacement.name, replacement.prefix)}</span>}
    </span>
  );
}

function Scopes({ of: { scopes, publishable } }: { of: Key }): ReactNode {
  if (publishable) return <span title={scopes.join(", ")}>{texts.keys.publishableScopes}</span>;
  if (hasDefaultScopes(scopes, publishable)) {
    const more = areasBeside(scopes).map((area) => texts.keys.beside[area]);
    return <span title={scopes.join(", ")}>{[texts.keys.allScopes, ...more].join(", ")}</span>;
  }
  return <span className={styles.scopes}>{scopes.join(", ")}</span>;
}

function Expiry({ of: key }: { of: Key }): ReactNode {
  if (key.expiresAt === null) return texts.keys.never;
  if (!hasExpired(key)) return <Moment at={key.expiresAt} />;
  return (
    <Badge tone="bad" title={formatMoment(new Date(key.expiresAt))}>
      {texts.keys.expired}
    </Badge>
  );
}

/** Whether the service accepts the key, and how near a ban is. */
function State({ of: { bannedUntil, publishable, strikes, strikesRemaining, ...key } }: { of: Key }): ReactNode {
  if (hasExpired(key)) return texts.keys.ended;
  if (publishable) return texts.keys.perVisitor;
  if (bannedUntil !== null) {
    return (
      <span className={styles.banned}>
        {texts.keys.bannedUntil} <Moment at={bannedUntil} />
      </span>
    );
  }
  return strikes > 0 ? <span className={styles.near}>{texts.keys.nearBan(strikesRemaining)}</span> : texts.keys.works;
}

function MomentOrNever({ at }: { at: string | null }): ReactNode {
  return at === null ? texts.keys.never : <Ago at={at} />;
}
