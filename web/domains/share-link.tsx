import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Moment } from "../parts/moment.tsx";
import { notify } from "../parts/notices.ts";
import { Secret } from "../parts/secret.tsx";
import { domainsTexts } from "../texts/en-domains.ts";
import styles from "./domains.module.css";
import { endLink, makeLink } from "./queries.ts";
import type { Domain } from "./state.ts";

const words = domainsTexts.link;

/** Buttons to make and to end a link for the person who sets the domain's DNS records (specification 5.12). */
export function ShareLink({ domain }: { domain: Domain }): ReactNode {
  const { hostname } = domain;
  const making = useMutation({ mutationFn: () => makeLink(domain) });
  const ending = useMutation({
    mutationFn: () => endLink(domain),
    onSuccess: () => {
      making.reset();
      notify(words.ended(hostname));
    },
  });
  return (
    <div className={styles.share}>
      <p className={styles.hint}>{words.lead}</p>
      <ErrorPanel error={making.error ?? ending.error} />
      {making.data && (
        <>
          <Secret label={words.label} value={making.data.url} />
          <p className={styles.hint}>
            {words.until} <Moment at={making.data.expiresAt} />
          </p>
        </>
      )}
      <Group gap="xs" mt="xs">
        {!making.data && (
          <Button
            size="xs"
            variant="default"
            loading={making.isPending}
            aria-label={words.makeOf(hostname)}
            onClick={() => making.mutate()}
          >
            {words.make}
          </Button>
        )}
        <Button size="xs" variant="subtle" loading={ending.isPending} aria-label={words.endOf(hostname)} onClick={() => ending.mutate()}>
          {words.end}
        </Button>
      </Group>
    </div>
  );
}
