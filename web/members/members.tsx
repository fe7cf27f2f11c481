import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { ask, type Member } from "../calls/members.ts";
import { reread } from "../calls/rows.ts";
import { sessionQuery, useSession } from "../dashboard/session.ts";
import { Waiting } from "../frame/waiting.tsx";
import { Badge } from "../parts/badge.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Ago } from "../parts/moment.tsx";
import { notify, notifyError } from "../parts/notices.ts";
import { Section } from "../parts/page-header.tsx";
import { RowMenu, type RowAction } from "../parts/row-menu.tsx";
import { RowsTable, type Column } from "../parts/rows-table.tsx";
import { factorTexts } from "../texts/en-factors.ts";
import { texts } from "../texts/texts.ts";
import styles from "./account.module.css";
import { InviteMember, RemoveMember, ResetFactors, ResetMember, StepDown } from "./member-dialogs.tsx";
import { membersQuery } from "./queries.ts";

type Open = { dialog: "reset" | "remove" | "stepDown" | "factors"; member: Member };

/** The members of the account; owners invite, change and remove them. */
export function Members(): ReactNode {
  const { member: self, isOwner } = useSession();
  const client = useQueryClient();
  const { data: members, error, refetch } = useQuery(membersQuery);
  const { invite } = useSearch({ from: "/dashboard/account" });
  const navigate = useNavigate({ from: "/dashboard/account" });
  const [open, setOpen] = useState<Open>();
  const setInvite = (to: true | undefined) => void navigate({ search: { invite: to }, replace: true, resetScroll: false });

  function onChanged(): void {
    void reread(client, membersQuery);
    void reread(client, sessionQuery);
  }
  async function changeRole({ id, role }: Member): Promise<void> {
    try {
      const changed = await ask("PATCH /members/{id}", { id, body: { role: role === "owner" ? "member" : "owner" } });
      notify(texts.account.roleChanged(nameOf(changed), texts.dashboard[changed.role]));
    } catch (refused) {
      notifyError(refused);
    }
    onChanged();
  }
  const actionsOf = (member: Member) => actionsFor(member, self.id, setOpen, (other) => void changeRole(other));

  return (
    <Section
      title={texts.account.membersTitle}
      lead={texts.account.membersLead}
      actions={isOwner && <Button onClick={() => setInvite(true)}>{texts.account.invite}</Button>}
    >
      <ErrorPanel error={error} onRetry={() => void refetch()} />
      {!members && !error && <Waiting lines={4} />}
      {members && (
        <RowsTable
          label={texts.account.membersTitle}
          columns={columnsFor(self.id, isOwner ? actionsOf : undefined)}
          rows={members}
          keyOf={({ id }) => id}
        />
      )}
      {invite && isOwner && <InviteMember onInvited={onChanged} onClose={() => setInvite(undefined)} />}
      {open && <OpenDialog open={open} selfId={self.id} onDone={onChanged} onClose={() => setOpen(undefined)} />}
    </Section>
  );
}

type OpenDialogProps = { open: Open; selfId: number; onDone: () => void; onClose: () => void };

function OpenDialog({ open: { dialog, member }, selfId, ...callbacks }: OpenDialogProps): ReactNode {
  if (dialog === "stepDown") return <StepDown of={member} {...callbacks} />;
  if (dialog === "factors") return <ResetFactors of={member} {...callbacks} />;
  if (dialog === "reset") return <ResetMember of={member} {...callbacks} />;
  return <RemoveMember of={member} isSelf={member.id === selfId} {...callbacks} />;
}

function actionsFor(member: Member, selfId: number, open: (dialog: Open) => void, changeRole: (member: Member) => void): RowAction[] {
  const isSelf = member.id === selfId;
  const newLink = { label: texts.account.newLink, run: () => open({ dialog: "reset", member }) };
  const noFactor = { label: factorTexts.reset, run: () => open({ dialog: "factors", member }) };
  const makeOwner = { label: texts.account.makeOwner, run: () => changeRole(member) };
  const makeMember = {
    label: texts.account.makeMember,
    run: () => (isSelf ? open({ dialog: "stepDown", member }) : changeRole(member)),
  };
  const remove = { label: texts.account.remove, run: () => open({ dialog: "remove", member }), isDangerous: true };
  const forOthers = [newLink, ...(member.hasSecondFactor ? [noFactor] : [])];
  return [...(isSelf || member.email === null ? [] : forOthers), member.role === "owner" ? makeMember : makeOwner, remove];
}

function columnsFor(selfId: number, actionsOf?: (member: Member) => RowAction[]): Column<Member>[] {
  const columns: Column<Member>[] = [
    { id: "email", header: texts.account.email, cell: (member) => <Name of={member} isSelf={member.id === selfId} /> },
    { id: "role", header: texts.account.role, width: "120px", cell: ({ role }) => texts.dashboard[role] },
    {
      id: "state",
      header: texts.account.state,
      width: "200px",
      cell: (member) => <State of={member} />,
    },
    {
      id: "factor",
      header: factorTexts.column,
      width: "130px",
      cell: ({ hasSecondFactor }) => (hasSecondFactor ? factorTexts.hasFactor : factorTexts.hasNoFactor),
    },
    {
      id: "seen",
      header: texts.account.lastSignIn,
      width: "190px",
      cell: ({ signedInAt }) => (signedInAt === null ? texts.account.neverYet : <Ago at={signedInAt} />),
    },
  ];
  if (!actionsOf) return columns;
  const menu = (member: Member): ReactNode => <RowMenu of={nameOf(member)} actions={actionsOf(member)} />;
  return [...columns, { id: "actions", header: texts.dashboard.actions, width: "64px", isActions: true, cell: menu }];
}

function Name({ of: member, isSelf }: { of: Member; isSelf: boolean }): ReactNode {
  return (
    <span className={styles.name}>
      {nameOf(member)}
      {isSelf && <Badge tone="plain">{texts.account.you}</Badge>}
    </span>
  );
}

function State({ of: { hasPassword, reset, factorsReset } }: { of: Member }): ReactNode {
  return (
    <>
      {hasPassword ? texts.account.active : texts.account.invited}
      {reset && (
        <span className={styles.reset}>
          {texts.account.resetBy(reset.by)} <Ago at={reset.at} />
        </span>
      )}
      {factorsReset && (
        <span className={styles.reset}>
          {factorTexts.resetBy(factorsReset.by)} <Ago at={factorsReset.at} />
        </span>
      )}
    </>
  );
}

function nameOf({ email }: Member): string {
  return email ?? texts.account.noEmail;
}
