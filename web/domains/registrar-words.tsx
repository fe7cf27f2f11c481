import { NativeSelect } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { domainsTexts } from "../texts/en-domains.ts";
import styles from "./domains.module.css";
import type { Domain } from "./state.ts";

const words = domainsTexts.registrars;

/** How to enter the record at common DNS providers, with their names for its fields. */
export function RegistrarWords({ kind }: Pick<Domain, "kind">): ReactNode {
  const byProvider: Record<string, string> = words[kind];
  const providers = Object.keys(byProvider);
  const [provider, setProvider] = useState(providers.at(-1) ?? "");
  return (
    <details className={styles.registrars}>
      <summary>{words.title}</summary>
      <NativeSelect
        className={styles.provider}
        label={words.label}
        data={providers}
        value={provider}
        onChange={({ currentTarget }) => setProvider(currentTarget.value)}
      />
      <p className={styles.hint} aria-live="polite">
        {byProvider[provider]}
      </p>
    </details>
  );
}
