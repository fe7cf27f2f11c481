import type { ReactNode } from "react";
import { referenceTexts } from "../texts/en-reference.ts";
import { idOf } from "./anchor.tsx";
import { Field, Fields } from "./fields.tsx";
import { PartHeading, SubHeading } from "./heading.tsx";
import type { Parameter, Place } from "./openapi.ts";

const places: Place[] = ["path", "query", "header", "cookie"];

/** The parameters by the place they are sent in. Their ids begin with `at`. */
export function Parameters({ parameters, level, at }: { parameters: Parameter[]; level: 1 | 2; at: string }): ReactNode {
  if (parameters.length === 0) return null;
  return (
    <>
      <PartHeading id={idOf(at, "parameters")} level={level}>
        {referenceTexts.parameters}
      </PartHeading>
      {places
        .map((place) => ({ place, found: parameters.filter((parameter) => parameter.in === place) }))
        .filter(({ found }) => found.length > 0)
        .map(({ place, found }) => (
          <div key={place}>
            <SubHeading id={idOf(at, place)} level={level}>
              {referenceTexts.places[place]}
            </SubHeading>
            <Fields>
              {found.map(({ name, schema = {}, description, required = false, example }) => (
                <Field
                  key={name}
                  id={idOf(at, place, name)}
                  name={name}
                  schema={{ ...schema, ...(description !== undefined && { description }) }}
                  required={required}
                  example={example}
                />
              ))}
            </Fields>
          </div>
        ))}
    </>
  );
}
