import { Checkbox, Radio, Stack, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { ask, type MadeKey } from "../calls/people.ts";
import { CallForm, useCallForm, type FormState } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { texts } from "../texts/texts.ts";
import styles from "./keys.module.css";
import { MadeKeyView } from "./made-key.tsx";
import { allScopes, publishableScopes, scopeAreas } from "./scopes.ts";

type Values = { publishable: boolean; scopes: string[]; expires: string };

/** Makes a key, and then shows it, this once. */
export function CreateKey({ onMade, onClose }: { onMade: () => void; onClose: () => void }): ReactNode {
  const [made, setMade] = useState<MadeKey>();
  const form = useCallForm<Values, MadeKey>({
    initial: { publishable: false, scopes: [...allScopes], expires: "" },
    send: ({ publishable, scopes, expires }) =>
      ask("POST /keys", { body: { publishable, scopes, ...(expires && { expires: new Date(expires).toISOString() }) } }),
    onDone: (key) => {
      setMade(key);
      onMade();
    },
  });
  if (made) {
    return (
      <Dialog title={texts.keys.createdTitle} size="lg" onClose={onClose}>
        <MadeKeyView made={made} onClose={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog title={texts.keys.create} size="lg" onClose={onClose}>
      <CallForm form={form} submit={texts.keys.create} onCancel={onClose}>
        <Stack gap="lg">
          <KindField form={form} />
          {!form.values.publishable && <ScopesField form={form} />}
          <TextInput label={texts.keys.expiresLabel} description={texts.keys.expiresHint} type="datetime-local" {...form.text("expires")} />
        </Stack>
      </CallForm>
    </Dialog>
  );
}

function KindField({ form: { values, set } }: { form: FormState<Values> }): ReactNode {
  function choose(kind: string): void {
    const publishable = kind === "publishable";
    set("publishable", publishable);
    set("scopes", [...(publishable ? publishableScopes : allScopes)]);
  }
  return (
    <Radio.Group label={texts.keys.kindLabel} value={values.publishable ? "publishable" : "secret"} onChange={choose}>
      <Stack gap="xs" mt="xs">
        <Radio value="secret" label={texts.keys.secretKey} description={texts.keys.secretHint} />
        <Radio value="publishable" label={texts.keys.publishableKey} description={texts.keys.publishableHint} />
      </Stack>
    </Radio.Group>
  );
}

function ScopesField({ form }: { form: FormState<Values> }): ReactNode {
  const { name: _name, ...field } = form.choice("scopes");
  return (
    <Checkbox.Group label={texts.keys.scopes} description={texts.keys.scopesHint} {...field}>
      <div className={styles.areas}>
        {scopeAreas.map(({ area, scopes }) => (
          <fieldset key={area} className={styles.area}>
            <legend>{texts.keys.areas[area]}</legend>
            {scopes.map((scope) => (
              <Checkbox key={scope} value={scope} label={scope.endsWith(":read") ? texts.keys.read : texts.keys.write} />
            ))}
          </fieldset>
        ))}
      </div>
    </Checkbox.Group>
  );
}
