import { createPrivateKey } from "node:crypto";
import sql from "sql-template-tag";
import type { Clock } from "../../platform/clock.ts";
import type { Database, Queryable, Transaction } from "../../platform/db/database.ts";
import { decryptSecret, encryptSecret, type SecretsKeys } from "../../platform/secrets.ts";
import { type AcmeAccount, openAccount } from "../acme/acme-client.ts";
import { type AcmeSessionSettings, closeAcmeSession, openAcmeSession, type ExternalAccount } from "../acme/acme-session.ts";
import { newPrivateKey } from "../acme/x509.ts";

export type AuthoritySettings = {
  directoryUrl: string;
  ca: string | undefined;
  email: string | undefined;
  external: ExternalAccount | undefined;
  /** The authority's names in CAA records. If empty, those in its directory are used. */
  caaIdentities: readonly string[];
} & Pick<AcmeSessionSettings, "traced">;

export type Authority = {
  directoryUrl: string;
  /** Returns the account at the authority. The first call opens it; after a failure the next call tries again. @throws AcmeProblem */
  account(): Promise<AcmeAccount>;
  /** Drops an account that the authority no longer knows. The next call of `account` opens a new one with the same key. */
  forget(account: AcmeAccount): void;
  /** The authority's names in CAA records: from the settings or, after `account`, its directory. May be empty. */
  caaIdentities(): readonly string[];
  /** The URL of the account; null until it was opened. */
  accountUrl(): string | null;
  close(): void;
};

/** The certificate authority of this service (specification 5.7: `ACME_*`). Saves the account's key, encrypted, for later starts. */
export function openAuthority(parts: { db: Database; clock: Clock; keys: SecretsKeys; settings: AuthoritySettings }): Authority {
  const { db, clock, keys, settings } = parts;
  const { directoryUrl, ca, email, external, traced } = settings;
  const closing = new AbortController();
  let opened: AcmeAccount | undefined;
  let opening: Promise<AcmeAccount> | undefined;

  async function open(): Promise<AcmeAccount> {
    const session = await openAcmeSession({ directoryUrl, ca, clock, signal: closing.signal, traced });
    try {
      opened = await openAccount(session, await accountKey(), { email, external });
      return opened;
    } catch (error) {
      closeAcmeSession(session);
      throw error;
    }
  }

  async function accountKey() {
    const kept = await findAccountKey(db, directoryUrl);
    if (kept !== null) return createPrivateKey(decryptSecret(keys, kept, directoryUrl));
    const pem = (await newPrivateKey()).export({ format: "pem", type: "pkcs8" });
    const envelope = encryptSecret(keys, pem, directoryUrl);
    return createPrivateKey(decryptSecret(keys, await db.write((tx) => keepAccountKey(tx, directoryUrl, envelope)), directoryUrl));
  }

  function account(): Promise<AcmeAccount> {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  return {
    directoryUrl,
    account,
    forget: (lost) => {
      // Requests under way keep using its session, whose idle connections close later.
      if (lost === opened) opening = undefined;
    },
    caaIdentities: () => [settings.caaIdentities, opened?.session.directory.meta?.caaIdentities].find((names) => names?.length) ?? [],
    accountUrl: () => opened?.url ?? null,
    close: () => {
      closing.abort();
      if (opened) closeAcmeSession(opened.session);
    },
  };
}

/** Returns the saved key of the account at an authority, encrypted for the URL of its directory. Saves `envelope` if there is none. */
async function keepAccountKey(tx: Transaction, directoryUrl: string, envelope: string): Promise<string> {
  await tx.query(
    sql`INSERT INTO acme_accounts (directory_url, key) VALUES (${directoryUrl}, ${envelope}) ON CONFLICT (directory_url) DO NOTHING`,
  );
  const [row] = await tx.query<{ key: string }>(sql`SELECT key FROM acme_accounts WHERE directory_url = ${directoryUrl}`);
  return row!.key;
}

async function findAccountKey(db: Queryable, directoryUrl: string): Promise<string | null> {
  const [row] = await db.query<{ key: string }>(sql`SELECT key FROM acme_accounts WHERE directory_url = ${directoryUrl}`);
  return row?.key ?? null;
}
