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
import { tryItTexts } from "../texts/en-reference.ts";
import styles from "./keys.module.css";
import { hasExpired, keysQuery, readKeys } from "./queries.ts";

const lifetimeMs = 3_600_000;
/** The most ended keys that are removed at a time. */
const endedMax = 20;

/** The id of the key that this page made last. */
let lastMade: number | undefined;

/**
 * A button in the reference for a signed-in owner: it creates a key of the current shop that works for one hour. Only
 * `onMade` gets the key. Renders nothing for anybody else.
 */
export function KeyOffer({ scopes, onMade }: KeyOfferProps): ReactNode {
  const client = useQueryClient();
  // reads the session only if there is one: otherwise the browser would log the refusal as an error
  const { data: sessions } = useQuery(browserSessionsQuery);
  const { data: session } = useQuery({ ...sessionQuery, enabled: sessions?.some(({ current }) => current) ?? false });
  const [error, setError] = useState<Error | null>(null);
  const making = useMutation({
    mutationFn: async () => {
      const expiresAt = new Date(serverNow() + lifetimeMs);
      const { id, key } = await ask("POST /keys", {
        body: { name: tryItTexts.keyName, scopes: [...scopes], expires: expiresAt.toISOString() },
      });
      onMade(key, { scopes, expiresAt, lifetimeMs });
      await removeEnded(lastMade).catch(() => {}); // keys that remain expire within an hour
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
      <Tooltip label={tryItTexts.makeHint} multiline maw={300} events={{ hover: true, focus: true, touch: false }}>
        <Button className={styles.offer} variant="light" size="compact-sm" loading={making.isPending} onClick={() => making.mutate()}>
          {tryItTexts.make(session.account.name)}
        </Button>
      </Tooltip>
      <ErrorPanel error={error} />
      {/* to React, the dialog's form is inside the panel's form, which must not get its submit event */}
      <div onSubmit={(event) => event.stopPropagation()}>
        <PasswordConfirmation member={session.member} />
      </div>
    </>
  );
}

/** Removes the earlier keys of this button that have ended, and the one that the new key replaces. */
async function removeEnded(replaced: number | undefined): Promise<void> {
  const isEnded = (key: Key): boolean => key.name.startsWith(tryItTexts.keyName) && (hasExpired(key) || key.id === replaced);
  const ended = (await readKeys()).filter(isEnded).slice(0, endedMax);
  await Promise.all(ended.map(({ id }) => ask("DELETE /keys/{id}", { id })));
}
