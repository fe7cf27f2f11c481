import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { CodeBlock } from "../frame/code-block.tsx";
import { Main } from "../frame/main.tsx";
import { usePageTitle } from "../frame/page-title.ts";
import { texts } from "../texts/texts.ts";
import styles from "./start.module.css";

const makeAccount = `npm run petstore -- accounts create --name "My shop" --plan free`;

const { origin } = location;
const createPet = `export API_KEY=psk_… BASE_URL=${origin}/v1
curl "$BASE_URL/categories" -H "Authorization: Bearer $API_KEY" \\
  -H "Content-Type: application/json" -d '{"name":"Dogs"}'
curl "$BASE_URL/pets" -H "Authorization: Bearer $API_KEY" \\
  -H "Content-Type: application/json" -d '{"name":"Rex","categoryId":1}'`;

const sellOnce = `curl -X PUT "$BASE_URL/store/inventory/1" -H "Authorization: Bearer $API_KEY" \\
  -H "Content-Type: application/json" -d '{"quantity":1}'
curl "$BASE_URL/store/orders" -H "Authorization: Bearer $API_KEY" \\
  -H "Content-Type: application/json" -d '{"petId":1}'
curl "$BASE_URL/store/orders" -H "Authorization: Bearer $API_KEY" \\
  -H "Content-Type: application/json" -d '{"petId":1}'`;

const steps = [
  { title: texts.start.keyTitle, text: texts.start.keyText, code: makeAccount },
  { title: texts.start.createTitle, text: texts.start.createText, code: createPet },
  { title: texts.start.stockTitle, text: texts.start.stockText, code: sellOnce },
];

/** `/`: what the service is, and the first requests. */
export function StartPage(): ReactNode {
  usePageTitle(texts.start.page);
  return (
    <Main className={styles.page}>
      <h1>{texts.start.title}</h1>
      <p className={styles.lead}>{texts.start.lead}</p>
      <p className={styles.actions}>
        <Button size="md" renderRoot={(props) => <Link to="/dashboard" {...props} />}>
          {texts.start.dashboard}
        </Button>
        <Button size="md" variant="default" renderRoot={(props) => <Link to="/reference" {...props} />}>
          {texts.start.reference}
        </Button>
        <Button size="md" variant="default" component="a" href="/openapi.json">
          {texts.start.description}
        </Button>
      </p>
      <h2>{texts.start.stepsTitle}</h2>
      <ol className={styles.steps}>
        {steps.map(({ title, text, code }) => (
          <li key={title}>
            <h3>{title}</h3>
            <p>{text}</p>
            <CodeBlock code={code} language="bash" label={title} />
          </li>
        ))}
      </ol>
    </Main>
  );
}
