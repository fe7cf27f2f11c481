import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { CodeBlock } from "../frame/code-block.tsx";
import type { Language } from "../frame/highlight.tsx";
import { referenceTexts } from "../texts/en-reference.ts";
import { Anchor } from "./anchor.tsx";
import { useDescription } from "./context.ts";
import { absoluteUrl } from "./load.ts";
import type { CodeSample } from "./openapi.ts";
import { useSampleLanguage } from "./sample-language.ts";
import styles from "./samples.module.css";

const languages: Record<string, Language> = {
  shell: "bash",
  typescript: "typescript",
  javascript: "typescript",
  python: "python",
  go: "go",
  php: "php",
};

/** The code samples of an operation, and what their variables are. */
export function Samples({ samples, level, id }: { samples: CodeSample[]; level: 1 | 2; id: string }): ReactNode {
  const { serverUrl } = useDescription();
  const Title = level === 1 ? "h2" : "h3";
  if (samples.length === 0) return null;
  return (
    <div className={styles.samples}>
      <div className={styles.title}>
        <Title id={id}>{referenceTexts.samples}</Title>
        <Anchor id={id} name={referenceTexts.samples} />
      </div>
      <SampleTabs samples={samples} labelledBy={id} />
      <p className={styles.hint}>{referenceTexts.samplesHint(absoluteUrl(serverUrl))}</p>
    </div>
  );
}

/** Code in tabs; the chosen language applies to all samples of the reference. */
export function SampleTabs({ samples, labelledBy }: { samples: CodeSample[]; labelledBy: string }): ReactNode {
  const labels = samples.map(({ label, lang }) => label ?? lang);
  const [chosen, choose] = useSampleLanguage(labels);
  return (
    <Tabs value={chosen} onChange={(label) => choose(label ?? "")} keepMounted={false}>
      <Tabs.List aria-labelledby={labelledBy}>
        {labels.map((label) => (
          <Tabs.Tab key={label} value={label}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {samples.map(({ lang, label = lang, source }) => (
        <Tabs.Panel key={label} value={label} pt="xs">
          <CodeBlock code={source} language={languages[lang.toLowerCase()] ?? "text"} label={label} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
