import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Command } from "../frame/palette.tsx";
import { referenceTexts } from "../texts/en-reference.ts";
import { texts } from "../texts/texts.ts";
import { MethodBadge } from "./badges.tsx";
import { searchTexts } from "./description.ts";
import { descriptionQuery } from "./load.ts";

/** The reference's pages, operations and error codes for the command palette. Reads the description when the palette opens. */
export function useReferenceCommands(isOpen: boolean): Command[] {
  const { data } = useQuery({ ...descriptionQuery, enabled: isOpen });
  const navigate = useNavigate();
  return useMemo(() => {
    const pages: Command[] = [
      { id: "overview", label: texts.reference, run: () => void navigate({ to: "/reference" }) },
      { id: "everything", label: referenceTexts.everything, run: () => void navigate({ to: "/reference/all" }) },
    ].map((page) => ({ ...page, group: texts.palette.pages, hint: null, texts: [page.label] }));
    const operations = (data?.operations ?? []).map((operation) => ({
      id: operation.id,
      group: operation.tag,
      label: operation.summary,
      hint: <MethodBadge method={operation.method} />,
      texts: searchTexts(operation),
      run: () => void navigate({ to: "/reference/$operationId", params: { operationId: operation.id } }),
    }));
    const codes = Object.keys(data?.errorTable ?? {}).map((code) => ({
      id: `code ${code}`,
      group: referenceTexts.errors,
      label: code,
      hint: null,
      texts: [code, code.replaceAll("_", " ")],
      run: () => void navigate({ to: "/reference/guides/$name", params: { name: "errors" }, hash: code }),
    }));
    return [...pages, ...operations, ...codes];
  }, [data, navigate]);
}
