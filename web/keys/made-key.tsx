import { Button, Group } from "@mantine/core";
import type { ReactNode } from "react";
import type { MadeKey, RotatedKey } from "../calls/members.ts";
import { CodeBlock } from "../frame/code-block.tsx";
import { Moment } from "../parts/moment.tsx";
import { Secret } from "../parts/secret.tsx";
import { texts } from "../texts/texts.ts";
import styles from "./keys.module.css";

type Props = { made: MadeKey | RotatedKey; onClose: () => void };

/** A new key, shown once, with an example request. */
export function MadeKeyView({ made, onClose }: Props): ReactNode {
  const example = `curl "${location.origin}/v1/account" -H "Authorization: Bearer $API_KEY"`;
  return (
    <>
      <Secret label={texts.keys.key} value={made.key} unlessCopied={texts.keys.notCopied} />
      {"previous" in made && (
        <p className={styles.note}>
          {texts.keys.rotatedText} <Moment at={made.previous.expiresAt} />.
        </p>
      )}
      <p className={styles.note}>{texts.keys.createdText}</p>
      {made.scopes.includes("account:read") && <CodeBlock code={example} language="bash" label={texts.keys.example} />}
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onClose}>
          {texts.dashboard.done}
        </Button>
      </Group>
    </>
  );
}
