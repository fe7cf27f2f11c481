import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { CodeBlock } from "../frame/code-block.tsx";
import { Prose } from "../frame/markdown.tsx";
import { quickStartTexts } from "../texts/en-reference.ts";
import { FirstAnswer } from "./answers.tsx";
import { clientProgram } from "./client-program.ts";
import { useDescription } from "./context.ts";
import type { Operation } from "./description.ts";
import { guides } from "./guides.ts";
import type { Topic } from "./introduction.ts";
import { absoluteUrl, keysUrl } from "./load.ts";
import type { CodeSample } from "./openapi.ts";
import styles from "./quick-start.module.css";
import { SampleTabs } from "./samples.tsx";

/** The operations of the quick start. Each of those for a sale needs what the one before it has made. */
const [firstOperation, saleOperations] = ["createCategory", ["createPet", "replaceInventoryItem", "createOrder"]] as const;

/** The guide about a topic of the introduction, if there is one. */
const guideOf: Record<string, string> = { Lists: "paging", Changes: "idempotency", Limits: "limits", Errors: "errors" };

/** How to begin: a key, the first requests and their answer, then what the description's introduction says about each topic. */
export function QuickStart({ topics }: { topics: Topic[] }): ReactNode {
  const { operations } = useDescription();
  const first = operations.find(({ id }) => id === firstOperation);
  const sale = saleOperations.flatMap((name) => operations.find(({ id }) => id === name) ?? []);
  return (
    <section aria-labelledby="quick-start" className={styles.quickStart}>
      <h2 id="quick-start">{quickStartTexts.title}</h2>
      <ol className={styles.steps}>
        <KeyStep topic={topics.find(({ name }) => name === "Keys")} />
        {first && <FirstSteps operation={first} />}
        {sale.length === saleOperations.length && (
          <Step id="first-order" title={quickStartTexts.sell} text={quickStartTexts.sellText}>
            <SampleTabs samples={samplesOf(sale)} labelledBy="first-order" />
          </Step>
        )}
        {topics
          .filter(({ name }) => name !== "Keys")
          .map((topic) => (
            <TopicStep key={topic.name} topic={topic} />
          ))}
      </ol>
    </section>
  );
}

function KeyStep({ topic }: { topic: Topic | undefined }): ReactNode {
  const { serverUrl } = useDescription();
  const code = `export BASE_URL=${absoluteUrl(serverUrl)} API_KEY=psk_…`;
  return (
    <Step
      id="first-key"
      title={quickStartTexts.key}
      text={[quickStartTexts.keyText, topic?.text].filter(Boolean).join(" ")}
      link={<a href={keysUrl}>{quickStartTexts.toKeys}</a>}
    >
      <CodeBlock code={code} language="bash" label={quickStartTexts.key} />
    </Step>
  );
}

/** The first request, in curl and with the TypeScript client, and its answer. */
function FirstSteps({ operation }: { operation: Operation }): ReactNode {
  const { id, answers, summary } = operation;
  return (
    <>
      <Step id="first-request" title={quickStartTexts.request} text={quickStartTexts.requestText}>
        <SampleTabs samples={samplesOf([operation])} labelledBy="first-request" />
      </Step>
      <Step
        id="first-answer"
        title={quickStartTexts.answer}
        text={answers[0]?.description ?? ""}
        link={
          <Link to="/reference/$operationId" params={{ operationId: id }}>
            {quickStartTexts.more(summary)}
          </Link>
        }
      >
        <FirstAnswer answers={answers} />
      </Step>
    </>
  );
}

function TopicStep({ topic: { name, text } }: { topic: Topic }): ReactNode {
  const guide = guides.find((each) => each.name === guideOf[name]);
  const link = guide && (
    <Link to="/reference/guides/$name" params={{ name: guide.name }}>
      {quickStartTexts.more(guide.title)}
    </Link>
  );
  return <Step id={`about-${name}`} title={name} text={text} link={link} />;
}

type StepProps = { id: string; title: string; text: string; link?: ReactNode; children?: ReactNode };

function Step({ id, title, text, link, children }: StepProps): ReactNode {
  return (
    <li>
      <h3 id={id}>{title}</h3>
      <div className={styles.text}>
        <Prose text={text} /> {link}
      </div>
      {children}
    </li>
  );
}

/** The requests of operations, in curl as the description has them, and with the TypeScript client. */
function samplesOf(operations: Operation[]): CodeSample[] {
  const commands = operations.flatMap(({ samples }) => samples.filter(({ label }) => label === "curl"));
  return [
    { lang: "Shell", label: "curl", source: commands.map(({ source }) => source).join("\n\n") },
    { lang: "TypeScript", label: "TypeScript", source: clientProgram(operations) },
  ];
}
