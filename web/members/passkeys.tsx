import { Button, Group, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { ask, type Factors, type Passkey } from "../calls/members.ts";
import { Refusal } from "../calls/refusal.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Moment } from "../parts/moment.tsx";
import { notify } from "../parts/notices.ts";
import { texts } from "../texts/texts.ts";
import { Factor } from "./factor.tsx";

type Props = { factors: Factors; onChanged: () => void; onCodes: (codes: string[] | null) => void };

/** The member's own passkeys. */
export function Passkeys({ factors: { passkeys, passkeysAvailable }, onChanged, onCodes }: Props): ReactNode {
  const [isAdding, setIsAdding] = useState(false);
  const [removing, setRemoving] = useState<Passkey>();
  const [renaming, setRenaming] = useState<Passkey>();
  return (
    <>
      <Factor name={texts.factors.passkeys} text={passkeysAvailable ? texts.factors.passkeysText : texts.factors.passkeysUnavailable}>
        {passkeysAvailable && <Button onClick={() => setIsAdding(true)}>{texts.factors.addPasskey}</Button>}
      </Factor>
      {passkeys.map((passkey) => (
        <Factor key={passkey.id} name={passkey.name} text={<State of={passkey} />}>
          <Group gap="xs">
            <Button variant="default" onClick={() => setRenaming(passkey)}>
              {texts.factors.renamePasskey(passkey.name)}
            </Button>
            <Button variant="default" onClick={() => setRemoving(passkey)}>
              {texts.factors.removePasskey(passkey.name)}
            </Button>
          </Group>
        </Factor>
      ))}
      {isAdding && <AddPasskey onChanged={onChanged} onCodes={onCodes} onClose={() => setIsAdding(false)} />}
      {renaming && <RenamePasskey of={renaming} onChanged={onChanged} onClose={() => setRenaming(undefined)} />}
      {removing && (
        <ConfirmDialog
          title={texts.factors.removePasskeyTitle(removing.name)}
          action={texts.factors.removePasskeyAction}
          onConfirm={() => ask("DELETE /passkeys/{id}", { id: removing.id })}
          onDone={() => {
            onChanged();
            notify(texts.factors.passkeyRemoved);
          }}
          onClose={() => setRemoving(undefined)}
        >
          {texts.factors.removePasskeyText}
        </ConfirmDialog>
      )}
    </>
  );
}

function State({ of: { works, host, createdAt, usedAt } }: { of: Passkey }): ReactNode {
  if (!works) return texts.factors.passkeyElsewhere(host);
  return (
    <>
      {texts.factors.passkeySince} <Moment at={createdAt} />
      {usedAt !== null && (
        <>
          , {texts.factors.passkeyUsed} <Moment at={usedAt} />
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
      notify(texts.factors.added);
    },
    afterwards: ({ recoveryCodes }) => {
      onClose();
      onCodes(recoveryCodes);
    },
  });
  return (
    <Dialog title={texts.factors.addTitle} onClose={onClose}>
      <CallForm form={form} submit={texts.factors.addPasskey} onCancel={onClose}>
        <TextInput
          label={texts.factors.passkeyName}
          description={`${texts.factors.passkeyNameHint} ${texts.factors.othersEnd}`}
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
      notify(texts.factors.passkeyRenamed(passkey.name));
    },
    afterwards: onClose,
  });
  return (
    <Dialog title={texts.factors.renamePasskeyTitle} onClose={onClose}>
      <CallForm form={form} submit={texts.factors.renamePasskeyAction} onCancel={onClose}>
        <TextInput
          label={texts.factors.passkeyName}
          description={texts.factors.passkeyNameHint}
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
    throw new Refusal("cancelled", texts.factors.notAdded, { status: 0, cause });
  });
  const { clientDataJSON, attestationObject, transports = [] } = made.response;
  return ask("POST /passkeys", { body: { name, id: made.id, clientDataJSON, attestationObject, transports } });
}
