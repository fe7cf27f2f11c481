import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { ask, type Session } from "../calls/members.ts";
import { reread } from "../calls/rows.ts";
import { Waiting } from "../frame/waiting.tsx";
import { Badge } from "../parts/badge.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Ago } from "../parts/moment.tsx";
import { notify } from "../parts/notices.ts";
import { Section } from "../parts/page-header.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { texts } from "../texts/texts.ts";
import styles from "./account.module.css";
import { deviceOf } from "./device.ts";
import { sessionsQuery } from "./queries.ts";

/** The member's own sessions. */
export function Sessions(): ReactNode {
  const client = useQueryClient();
  const { data: sessions, error, refetch } = useQuery(sessionsQuery);
  const [isAsking, setAsking] = useState(false);
  const end = useMutation({
    mutationFn: ({ id }: Session) => ask("DELETE /sessions/{id}", { id }),
    onSuccess: () => notify(texts.account.ended),
    onSettled: () => reread(client, sessionsQuery),
  });
  function othersEnded(): void {
    setAsking(false);
    void reread(client, sessionsQuery);
    notify(texts.account.othersEnded);
  }
  const hasOthers = sessions?.some(({ current }) => !current);
  return (
    <Section
      title={texts.account.sessionsTitle}
      lead={texts.account.sessionsLead}
      actions={
        hasOthers && (
          <Button variant="default" onClick={() => setAsking(true)}>
            {texts.account.endOthers}
          </Button>
        )
      }
    >
      <ErrorPanel error={error ?? end.error} onRetry={() => void refetch()} />
      {!sessions && !error && <Waiting lines={3} />}
      {sessions && (
        <RowsTable label={texts.account.sessionsTitle} columns={columnsFor(end.mutate)} rows={sessions} keyOf={({ id }) => id} />
      )}
      {isAsking && (
        <ConfirmDialog
          title={texts.account.endOthersTitle}
          action={texts.account.endOthers}
          onConfirm={() => ask("DELETE /sessions")}
          onDone={othersEnded}
          onClose={() => setAsking(false)}
        >
          {texts.account.endOthersText}
        </ConfirmDialog>
      )}
    </Section>
  );
}

function columnsFor(onEnd: (session: Session) => void): Column<Session>[] {
  return [
    { id: "device", header: texts.account.device, cell: (session) => <Device of={session} /> },
    { id: "address", header: texts.account.address, width: "160px", cell: ({ address }) => address },
    { id: "begun", header: texts.account.begun, width: "180px", cell: ({ createdAt }) => <Ago at={createdAt} /> },
    { id: "seen", header: texts.account.seen, width: "180px", cell: ({ seenAt }) => <Ago at={seenAt} /> },
    {
      id: "end",
      header: texts.dashboard.actions,
      width: "160px",
      isActions: true,
      cell: (session) =>
        session.current ? null : (
          <Button size="compact-sm" variant="default" onClick={() => onEnd(session)}>
            {texts.account.end}
          </Button>
        ),
    },
  ];
}

function Device({ of: { userAgent, current } }: { of: Session }): ReactNode {
  const { browser = texts.account.unknownDevice, system } = deviceOf(userAgent);
  return (
    <span className={styles.name} title={userAgent}>
      {system === undefined ? browser : texts.account.deviceOn(browser, system)}
      {current && <Badge tone="plain">{texts.account.thisOne}</Badge>}
    </span>
  );
}
