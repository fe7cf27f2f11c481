import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { ask, type Key } from "../calls/members.ts";
import { useSession } from "../dashboard/session.ts";
import { Waiting } from "../frame/waiting.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { notify, notifyError } from "../parts/notices.ts";
import { PageHeader } from "../parts/page-header.tsx";
import { texts } from "../texts/texts.ts";
import { CreateKey } from "./create-key.tsx";
import { KeysTable } from "./keys-table.tsx";
import { keysQuery, useKeysChanged } from "./queries.ts";
import { RotateKey } from "./rotate-key.tsx";

type Open = { dialog: "rotate" | "revoke"; key: Key };

/** `/dashboard/keys`: the account's keys; owners create, rotate and revoke them. */
export function KeysPage(): ReactNode {
  const { isOwner } = useSession();
  const { data: keys, error, refetch } = useQuery(keysQuery);
  const { create } = useSearch({ from: "/dashboard/keys" });
  const navigate = useNavigate({ from: "/dashboard/keys" });
  const [open, setOpen] = useState<Open>();
  const onChanged = useKeysChanged();
  const setCreate = (to: true | undefined) => void navigate({ search: { create: to }, replace: true });
  const close = () => setOpen(undefined);
  function unban({ id, name }: Key): void {
    void ask("POST /keys/{id}/unban", { id })
      .then(() => notify(texts.keys.unbanned(name)), notifyError)
      .then(onChanged);
  }

  return (
    <>
      <PageHeader title={texts.keys.page} lead={isOwner ? texts.keys.lead : `${texts.keys.lead} ${texts.keys.membersLead}`}>
        {isOwner && <Button onClick={() => setCreate(true)}>{texts.keys.create}</Button>}
      </PageHeader>
      <ErrorPanel error={error} onRetry={() => void refetch()} />
      {!keys && !error && <Waiting lines={6} />}
      {keys?.length === 0 && <EmptyState title={texts.keys.none} text={isOwner ? texts.keys.noneText : texts.keys.noneForMembers} />}
      {keys && keys.length > 0 && (
        <KeysTable
          keys={keys}
          {...(isOwner && {
            onRotate: (key: Key) => setOpen({ dialog: "rotate", key }),
            onRevoke: (key: Key) => setOpen({ dialog: "revoke", key }),
            onUnban: unban,
          })}
        />
      )}
      {create && isOwner && <CreateKey onMade={onChanged} onClose={() => setCreate(undefined)} />}
      {open?.dialog === "rotate" && <RotateKey of={open.key} onMade={onChanged} onClose={close} />}
      {open?.dialog === "revoke" && <RevokeKey of={open.key} onDone={onChanged} onClose={close} />}
    </>
  );
}

function RevokeKey({ of, onDone, onClose }: { of: Key; onDone: () => void; onClose: () => void }): ReactNode {
  function done(): void {
    onDone();
    notify(texts.keys.revoked(of.prefix));
  }
  return (
    <ConfirmDialog
      title={texts.keys.revokeTitle(of.prefix)}
      action={texts.keys.revokeAction}
      onConfirm={() => ask("DELETE /keys/{id}", { id: of.id })}
      onDone={done}
      onClose={onClose}
    >
      {texts.keys.revokeText}
    </ConfirmDialog>
  );
}
