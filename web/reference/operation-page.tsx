import { useParams } from "@tanstack/react-router";
import { Suspense, type ReactNode } from "react";
import { NotFoundPage } from "../frame/message-page.tsx";
import { usePageTitle } from "../frame/page-title.ts";
import { texts } from "../texts/texts.ts";
import { useDescription } from "./context.ts";
import type { Operation } from "./description.ts";
import { OperationArticle } from "./operation-article.tsx";
import { useShownTarget } from "./shown-target.ts";
import { LazyPanel } from "./try-it/lazy-panel.ts";

/** `/reference/{operationId}`: an operation, its code samples, and its test panel unless the description hides that. */
export function OperationPage(): ReactNode {
  const { operationId } = useParams({ from: "/reference/$operationId" });
  const { operations } = useDescription();
  const operation = operations.find(({ id }) => id === operationId);
  usePageTitle(operation?.summary ?? texts.notFound.title);
  if (!operation) return <NotFoundPage text={texts.notFound.operation(operationId)} />;
  // what follows the panel would move if the panel came later
  return (
    <Suspense>
      <ShownOperation key={operation.id} operation={operation} />
    </Suspense>
  );
}

function ShownOperation({ operation }: { operation: Operation }): ReactNode {
  useShownTarget();
  return <OperationArticle operation={operation} level={1} panel={operation.hasPanel && <LazyPanel operation={operation} />} />;
}
