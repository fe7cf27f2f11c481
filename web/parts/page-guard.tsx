import { useBlocker } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Ask, Guard, useQuestions, type Question } from "./unsaved.tsx";

/** Asks `question` before the page is left while a component within it has something unsaved. A browser asks in its own words before it closes the tab. */
export function PageGuard({ question, children }: { question: Question; children: ReactNode }): ReactNode {
  const { register, first } = useQuestions();
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && first() !== undefined,
    enableBeforeUnload: () => first() !== undefined,
    withResolver: true,
  });
  return (
    <Guard value={register}>
      {children}
      {status === "blocked" && <Ask question={question} onStay={reset} onLeave={proceed} />}
    </Guard>
  );
}
