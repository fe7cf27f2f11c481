import { Checkbox, Radio, Stack, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { ask, type MadeKey } from "../calls/members.ts";
import { CallForm, useCallForm, type FormState } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { texts } from "../texts/texts.ts";
import styles from "./keys.module.css";
import { MadeKeyView } from "./made-key.tsx";
import { publishableScopes, readingScopes, scopeAreas } from "./scopes.ts";

type Values = { name: string; publishable: boolean; scopes: string[]; origins: string; expires: string };

/** A dialog that creates a key and shows it once. */
export function CreateKey({ onMade, onClose }: { onMade: () => void; onClose: () => void }): ReactNode {
  const [made, setMade] = useState<MadeKey>();
  const form = useCallForm<Values, MadeKey>({
    initial: { name: "", publishable: false, scopes: [...readingScopes], origins: "", expires: "" },
    send: ({ name, publishable, scopes, origins, expires }) => {
      const websites = publishable ? origins.split(/[\s,]+/).filter((text) => text !== "") : [];
      const more = { ...(name.trim() && { name }), ...(expires && { expires: new Date(expires).toISOString() }) };
      return ask("POST /keys", { body: { publishable, scopes, ...(websites.length > 0 && { origins: websites }), ...more } });
    },
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
          <TextInput label={texts.keys.nameLabel} description={texts.keys.nameHint} maxLength={100} data-autofocus {...form.text("name")} />
          <KindField form={form} />
          {!form.values.publishable && <ScopesField form={form} />}
          {form.values.publishable && (
            <TextInput label={texts.keys.originsLabel} description={texts.keys.originsHint} {...form.text("origins")} />
          )}
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
    set("scopes", [...(publishable ? publishableScopes : readingScopes)]);
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
    <Checkbox.Group label={texts.keys.scopes} {...field}>
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
