import { Button, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { ask, type AppSecret } from "../calls/members.ts";
import { reread } from "../calls/rows.ts";
import { sessionQuery } from "../dashboard/session.ts";
import { Waiting } from "../frame/waiting.tsx";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Moment } from "../parts/moment.tsx";
import { notify } from "../parts/notices.ts";
import { Section } from "../parts/page-header.tsx";
import { factorTexts } from "../texts/en-factors.ts";
import { Factor } from "./factor.tsx";
import styles from "./factors.module.css";
import { Passkeys } from "./passkeys.tsx";
import { QrCode } from "./qr-code.tsx";
import { factorsQuery, membersQuery, sessionsQuery } from "./queries.ts";
import { RecoveryCodes } from "./recovery-codes.tsx";

type Open = { dialog: "remove" | "newCodes" } | { dialog: "setUp"; secret: AppSecret } | { dialog: "codes"; codes: string[] };

/** The member's own second factors: the authenticator app and the recovery codes. */
export function SecondFactors(): ReactNode {
  const client = useQueryClient();
  const { data: factors, error, refetch } = useQuery(factorsQuery);
  const [open, setOpen] = useState<Open>();
  const prepare = useMutation({
    mutationFn: () => ask("POST /factors/app"),
    onSuccess: (secret) => setOpen({ dialog: "setUp", secret }),
  });
  function changed(): void {
    for (const query of [factorsQuery, sessionsQuery, membersQuery, sessionQuery]) void reread(client, { queryKey: query.queryKey });
  }
  const showCodes = (codes: string[] | null) => setOpen(codes === null ? undefined : { dialog: "codes", codes });

  return (
    <Section title={factorTexts.title} lead={factorTexts.lead}>
      <ErrorPanel error={error ?? prepare.error} onRetry={() => void refetch()} />
      {!factors && !error && <Waiting lines={3} />}
      {factors && (
        <div className={styles.rows}>
          <Factor
            name={factorTexts.app}
            text={
              factors.app ? (
                <>
                  {factorTexts.appSince} <Moment at={factors.app.enabledAt} />
                </>
              ) : (
                factorTexts.appText
              )
            }
          >
            {factors.app ? (
              <Button variant="default" onClick={() => setOpen({ dialog: "remove" })}>
                {factorTexts.remove}
              </Button>
            ) : (
              <Button loading={prepare.isPending} onClick={() => prepare.mutate()}>
                {factorTexts.setUp}
              </Button>
            )}
          </Factor>
          <Passkeys factors={factors} onChanged={changed} onCodes={showCodes} />
          {(factors.app || factors.passkeys.length > 0) && (
            <Factor name={factorTexts.codes} text={`${factorTexts.codesLeft(factors.recoveryCodesLeft)}. ${factorTexts.codesText}`}>
              <Button variant="default" onClick={() => setOpen({ dialog: "newCodes" })}>
                {factorTexts.makeCodes}
              </Button>
            </Factor>
          )}
        </div>
      )}
      {open && <OpenDialog open={open} onChanged={changed} onCodes={showCodes} onClose={() => setOpen(undefined)} />}
    </Section>
  );
}

type DialogProps = { open: Open; onChanged: () => void; onCodes: (codes: string[] | null) => void; onClose: () => void };

function OpenDialog({ open, onChanged, onCodes, onClose }: DialogProps): ReactNode {
  if (open.dialog === "codes") return <RecoveryCodes codes={open.codes} onClose={onClose} />;
  if (open.dialog === "setUp") return <SetUp secret={open.secret} onChanged={onChanged} onCodes={onCodes} onClose={onClose} />;
  if (open.dialog === "remove") {
    return (
      <ConfirmDialog
        title={factorTexts.removeTitle}
        action={factorTexts.remove}
        onConfirm={() => ask("DELETE /factors/app")}
        onDone={() => {
          onChanged();
          notify(factorTexts.removed);
        }}
        onClose={onClose}
      >
        {factorTexts.removeText}
      </ConfirmDialog>
    );
  }
  async function makeCodes(): Promise<void> {
    const { recoveryCodes } = await ask("POST /factors/recovery-codes");
    onCodes(recoveryCodes);
  }
  return (
    <ConfirmDialog
      title={factorTexts.makeCodesTitle}
      action={factorTexts.makeCodes}
      onConfirm={makeCodes}
      onDone={onChanged}
      onClose={onClose}
      afterwards={() => {}}
    >
      {factorTexts.makeCodesText}
    </ConfirmDialog>
  );
}

function SetUp({ secret: { secret, uri }, onChanged, onCodes, onClose }: Omit<DialogProps, "open"> & { secret: AppSecret }): ReactNode {
  const form = useCallForm({
    initial: { code: "" },
    send: (body) => ask("POST /factors/app/enable", { body }),
    onDone: () => {
      onChanged();
      notify(factorTexts.enabled);
    },
    afterwards: ({ recoveryCodes }) => onCodes(recoveryCodes),
  });
  return (
    <Dialog title={factorTexts.setUpTitle} onClose={onClose}>
      <p>{factorTexts.scan}</p>
      <QrCode text={uri} label={factorTexts.qrLabel} />
      <p>{factorTexts.typeInstead}</p>
      <code className={styles.secret}>{secret.replaceAll(/(.{4})(?=.)/g, "$1 ")}</code>
      <CallForm form={form} submit={factorTexts.enable} onCancel={onClose}>
        <TextInput
          label={factorTexts.code}
          description={factorTexts.othersEnd}
          inputMode="numeric"
          autoComplete="one-time-code"
          data-autofocus
          {...form.text("code")}
        />
      </CallForm>
    </Dialog>
  );
}
