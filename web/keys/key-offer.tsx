import { Button, Tooltip } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { ask, type Key } from "../calls/members.ts";
import { reread } from "../calls/rows.ts";
import { serverNow } from "../calls/server-clock.ts";
import { PasswordConfirmation } from "../dashboard/confirm-password.tsx";
import { browserSessionsQuery, sessionQuery } from "../dashboard/session.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import type { KeyOfferProps } from "../reference/try-it/key-offer.ts";
import { texts } from "../texts/texts.ts";
import styles from "./keys.module.css";
import { hasExpired, keysQuery } from "./queries.ts";

const lifetimeMs = 3_600_000;
/** Of a key's name, which has at most 100 characters. */
const summaryMax = 80;
/** How many keys that have ended are removed at once. */
const endedMax = 20;

/** The key that this page has made last. */
let lastMade: number | undefined;

/**
 * A button of the reference for an owner who is signed in: it makes a key of the current shop for one operation and one hour. The key
 * goes to `onMade` alone. Renders nothing for anybody else.
 */
export function KeyOffer({ summary, scopes, onMade }: KeyOfferProps): ReactNode {
  const client = useQueryClient();
  // not the session at first: without one, its answer is an error in the browser's log
  const { data: sessions } = useQuery(browserSessionsQuery);
  const { data: session } = useQuery({ ...sessionQuery, enabled: sessions?.some(({ current }) => current) ?? false });
  const [error, setError] = useState<Error | null>(null);
  const making = useMutation({
    mutationFn: async () => {
      const expiresAt = new Date(serverNow() + lifetimeMs);
      const name = texts.tryIt.keyName(summary.slice(0, summaryMax));
      const { id, key } = await ask("POST /keys", { body: { name, scopes: [...scopes], expires: expiresAt.toISOString() } });
      onMade(key, { scopes, expiresAt, lifetimeMs });
      await removeEnded(lastMade).catch(() => {}); // those that remain work for an hour at most
      lastMade = id;
      void reread(client, keysQuery);
    },
    onMutate: () => setError(null),
    onError: (failure) => {
      setError(failure);
      void reread(client, sessionQuery);
    },
  });
  if (session?.member.role !== "owner" || !session.member.hasPassword) return null;
  return (
    <>
      <Tooltip label={texts.tryIt.makeHint(scopes)} multiline maw={300} events={{ hover: true, focus: true, touch: false }}>
        <Button className={styles.offer} variant="light" size="compact-sm" loading={making.isPending} onClick={() => making.mutate()}>
          {texts.tryIt.make(session.account.name)}
        </Button>
      </Tooltip>
      <ErrorPanel error={error} />
      {/* the dialog's form is inside of the panel's for React, but not on the page */}
      <div onSubmit={(event) => event.stopPropagation()}>
        <PasswordConfirmation member={session.member} />
      </div>
    </>
  );
}

/** Removes the earlier keys of this button that have ended, and the one that the new key replaces. */
async function removeEnded(replaced: number | undefined): Promise<void> {
  const isEnded = (key: Key): boolean => key.name.startsWith(texts.tryIt.keyName("")) && (hasExpired(key) || key.id === replaced);
  const ended = (await ask("GET /keys")).filter(isEnded).slice(0, endedMax);
  await Promise.all(ended.map(({ id }) => ask("DELETE /keys/{id}", { id })));
}
