import { NativeSelect, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { tryItTexts } from "../../texts/en-reference.ts";
import type { Parameter } from "../openapi.ts";
import styles from "./panel.module.css";
import { fieldId } from "./request.ts";

type Props = {
  parameters: Parameter[];
  values: Record<string, string>;
  /** The ids of required fields that are still empty. */
  missing: string[];
  onChange: (id: string, value: string) => void;
};

export function ParameterFields({ parameters, values, missing, onChange }: Props): ReactNode {
  if (parameters.length === 0) return null;
  return (
    <div className={styles.grid}>
      {parameters.map((parameter) => {
        const id = fieldId(parameter);
        return (
          <ParameterField
            key={id}
            parameter={parameter}
            value={values[id] ?? ""}
            error={missing.includes(id) && tryItTexts.missing(parameter.name)}
            onChange={(value) => onChange(id, value)}
          />
        );
      })}
    </div>
  );
}

type FieldProps = { parameter: Parameter; value: string; error: string | false; onChange: (value: string) => void };

/** Values of every type are entered as text, so that a user can try how the service answers a wrong one. */
function ParameterField({ parameter, value, error, onChange }: FieldProps): ReactNode {
  const { name, schema = {}, required = false } = parameter;
  const choices = choicesOf(parameter);
  const shared = { label: name, value, withAsterisk: required, error };
  if (choices) {
    const options = [{ value: "", label: tryItTexts.any }, ...choices.map((choice) => ({ value: choice, label: choice }))];
    return <NativeSelect {...shared} data={options} onChange={(event) => onChange(event.currentTarget.value)} />;
  }
  return (
    <TextInput
      {...shared}
      className={parameter.in === "header" ? styles.wide : undefined}
      placeholder={schema.type === "array" ? tryItTexts.many : required ? undefined : tryItTexts.any}
      inputMode={schema.type === "integer" ? "numeric" : undefined}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function choicesOf({ schema = {} }: Parameter): string[] | undefined {
  if (schema.type === "boolean") return ["true", "false"];
  return schema.enum?.map(String);
}
