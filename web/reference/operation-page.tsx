import { lazyRouteComponent, useParams } from "@tanstack/react-router";
import { Suspense, type ReactNode } from "react";
import { NotFoundPage } from "../frame/message-page.tsx";
import { usePageTitle } from "../frame/page-title.ts";
import { texts } from "../texts/texts.ts";
import { useDescription } from "./context.ts";
import { OperationArticle } from "./operation-article.tsx";
import { useShownTarget } from "./shown-target.ts";

const Panel = lazyRouteComponent(() => import("./try-it/panel.tsx"), "TryItPanel");

/** `/reference/{operationId}`: an operation, its code samples, and its test panel unless the description hides that. */
export function OperationPage(): ReactNode {
  const { operationId } = useParams({ from: "/reference/$operationId" });
  const { operations } = useDescription();
  const operation = operations.find(({ id }) => id === operationId);
  usePageTitle(operation?.summary ?? texts.notFound.title);
  useShownTarget();
  if (!operation) return <NotFoundPage text={texts.notFound.operation(operationId)} />;
  const panel = operation.hasPanel && (
    <Suspense>
      <Panel operation={operation} />
    </Suspense>
  );
  return <OperationArticle key={operation.id} operation={operation} level={1} panel={panel} />;
}
