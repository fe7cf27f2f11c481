import { Button, Group, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { ask, type Factors, type Passkey } from "../calls/members.ts";
import { Refusal } from "../calls/refusal.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Ago, Moment } from "../parts/moment.tsx";
import { notify } from "../parts/notices.ts";
import { factorTexts } from "../texts/en-factors.ts";
import { Factor } from "./factor.tsx";

type Props = { factors: Factors; onChanged: () => void; onCodes: (codes: string[] | null) => void };

/** The member's own passkeys. */
export function Passkeys({ factors: { passkeys, passkeysAvailable }, onChanged, onCodes }: Props): ReactNode {
  const [isAdding, setIsAdding] = useState(false);
  const [removing, setRemoving] = useState<Passkey>();
  const [renaming, setRenaming] = useState<Passkey>();
  return (
    <>
      <Factor name={factorTexts.passkeys} text={passkeysAvailable ? factorTexts.passkeysText : factorTexts.passkeysUnavailable}>
        {passkeysAvailable && <Button onClick={() => setIsAdding(true)}>{factorTexts.addPasskey}</Button>}
      </Factor>
      {passkeys.map((passkey) => (
        <Factor key={passkey.id} name={passkey.name} text={<State of={passkey} />}>
          <Group gap="xs">
            <Button variant="default" onClick={() => setRenaming(passkey)}>
              {factorTexts.renamePasskey(passkey.name)}
            </Button>
            <Button variant="default" onClick={() => setRemoving(passkey)}>
              {factorTexts.removePasskey(passkey.name)}
            </Button>
          </Group>
        </Factor>
      ))}
      {isAdding && <AddPasskey onChanged={onChanged} onCodes={onCodes} onClose={() => setIsAdding(false)} />}
      {renaming && <RenamePasskey of={renaming} onChanged={onChanged} onClose={() => setRenaming(undefined)} />}
      {removing && (
        <ConfirmDialog
          title={factorTexts.removePasskeyTitle(removing.name)}
          action={factorTexts.removePasskeyAction}
          onConfirm={() => ask("DELETE /passkeys/{id}", { id: removing.id })}
          onDone={() => {
            onChanged();
            notify(factorTexts.passkeyRemoved);
          }}
          onClose={() => setRemoving(undefined)}
        >
          {factorTexts.removePasskeyText}
        </ConfirmDialog>
      )}
    </>
  );
}

function State({ of: { works, host, createdAt, usedAt } }: { of: Passkey }): ReactNode {
  if (!works) return factorTexts.passkeyElsewhere(host);
  return (
    <>
      {factorTexts.passkeySince} <Moment at={createdAt} />
      {usedAt !== null && (
        <>
          , {factorTexts.passkeyUsed} <Ago at={usedAt} />
        </>
      )}
    </>
  );
}

function AddPasskey({ onChanged, onCodes, onClose }: Omit<Props, "factors"> & { onClose: () => void }): ReactNode {
  const form = useCallForm({
    initial: { name: "" },
    send: ({ name }) => add(name),
    onDone: () => {
      onChanged();
      notify(factorTexts.added);
    },
    afterwards: ({ recoveryCodes }) => {
      onClose();
      onCodes(recoveryCodes);
    },
  });
  return (
    <Dialog title={factorTexts.addTitle} onClose={onClose}>
      <CallForm form={form} submit={factorTexts.addPasskey} onCancel={onClose}>
        <TextInput
          label={factorTexts.passkeyName}
          description={`${factorTexts.passkeyNameHint} ${factorTexts.othersEnd}`}
          maxLength={100}
          data-autofocus
          {...form.text("name")}
        />
      </CallForm>
    </Dialog>
  );
}

function RenamePasskey({ of: { id, name }, onChanged, onClose }: { of: Passkey; onChanged: () => void; onClose: () => void }): ReactNode {
  const form = useCallForm({
    initial: { name },
    send: (body) => ask("PATCH /passkeys/{id}", { id, body }),
    onDone: (passkey) => {
      onChanged();
      notify(factorTexts.passkeyRenamed(passkey.name));
    },
    afterwards: onClose,
  });
  return (
    <Dialog title={factorTexts.renamePasskeyTitle} onClose={onClose}>
      <CallForm form={form} submit={factorTexts.renamePasskeyAction} onCancel={onClose}>
        <TextInput
          label={factorTexts.passkeyName}
          description={factorTexts.passkeyNameHint}
          maxLength={100}
          data-autofocus
          {...form.text("name")}
        />
      </CallForm>
    </Dialog>
  );
}

async function add(name: string) {
  const { options } = await ask("POST /passkeys/options");
  const { startRegistration } = await import("@simplewebauthn/browser");
  const made = await startRegistration({ optionsJSON: JSON.parse(options) as never }).catch((cause: unknown) => {
    throw new Refusal("cancelled", factorTexts.notAdded, { status: 0, cause });
  });
  const { clientDataJSON, attestationObject, transports = [] } = made.response;
  return ask("POST /passkeys", { body: { name, id: made.id, clientDataJSON, attestationObject, transports } });
}
