import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ChangeEvent, type ReactNode, type SubmitEvent } from "react";
import type { Detail } from "../calls/refusal.ts";
import { texts } from "../texts/texts.ts";
import { ErrorPanel } from "./error-panel.tsx";
import { explain, sentence } from "./explained.ts";
import { useUnsaved } from "./unsaved.tsx";

type TextChange = ChangeEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>;
type NameOf<Values, Value> = { [Name in keyof Values]: Values[Name] extends Value ? Name : never }[keyof Values] & string;

type TextProps = {
  name: string;
  value: string;
  error: string | undefined;
  "aria-invalid": boolean;
  onChange: (event: TextChange) => void;
};

/** A form that sends its values in one call; created by `useCallForm`, rendered by `CallForm`. */
export type FormState<Values> = {
  values: Values;
  set: <Name extends keyof Values & string>(name: Name, value: Values[Name]) => void;
  /** Props of a text field: TextInput, PasswordInput, Textarea, NativeSelect. */
  text: (name: NameOf<Values, string>) => TextProps;
  /** Props of a field whose onChange passes its value: Select, NumberInput, Checkbox.Group. */
  choice: <Name extends keyof Values & string>(
    name: Name,
  ) => { name: Name; value: Values[Name]; error: string | undefined; onChange: (value: Values[Name]) => void };
  /** The errors within a field that has several inputs, by their path below it, such as `own[1].name`. */
  errorsIn: (name: keyof Values & string) => ReadonlyMap<string, string>;
  submit: () => void;
  sending: boolean;
  error: Error | null;
};

type Options<Values, Answer> = {
  initial: Values;
  send: (values: Values) => Promise<Answer>;
  /** Called after success, even if the form was closed meanwhile: for notices and cached data. */
  onDone?: (answer: Answer, values: Values) => void;
  /** Called after `onDone` if the form is still mounted: closes it or navigates. */
  afterwards?: (answer: Answer) => void;
};

/**
 * Holds the values of a form and sends them. An error that the service reports for `body.NAME` is shown at the field NAME until its value
 * changes; errors without a field are shown above the form.
 */
export function useCallForm<Values extends object, Answer>({
  initial,
  send,
  onDone,
  afterwards,
}: Options<Values, Answer>): FormState<Values> {
  const [values, setValues] = useState(initial);
  const [changed, setChanged] = useState<ReadonlySet<string>>(new Set());
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: send,
    onMutate: () => setChanged(new Set()),
    onSuccess: (answer, sent) => onDone?.(answer, sent),
  });

  function set<Name extends keyof Values & string>(name: Name, value: Values[Name]): void {
    setValues((before) => ({ ...before, [name]: value }));
    setChanged((before) => new Set(before).add(name));
  }
  const isSent = isSuccess && changed.size === 0;
  useUnsaved(!isSent && isUnsavedForm(values, initial));
  const errorOf = (name: string) => (changed.has(name) ? undefined : fieldError(error, name));

  return {
    values,
    set,
    text: (name) => ({
      name,
      value: values[name] as string,
      error: errorOf(name),
      // not every Mantine field sets this itself
      "aria-invalid": errorOf(name) !== undefined,
      onChange: ({ currentTarget }) => set(name, currentTarget.value as Values[typeof name]),
    }),
    choice: (name) => ({ name, value: values[name], error: errorOf(name), onChange: (value) => set(name, value) }),
    errorsIn: (name) =>
      new Map(changed.has(name) ? [] : fieldErrors(error, name).map((one) => [belowField(one.path), sentence(one.message)])),
    submit: () => mutate(values, { onSuccess: (answer) => afterwards?.(answer) }),
    sending: isPending,
    error,
  };
}

/** Whether a form's values differ from its initial ones. */
export function isUnsavedForm<Values>(values: Values, initial: Values): boolean {
  return JSON.stringify(values) !== JSON.stringify(initial);
}

type Props<Values> = {
  form: FormState<Values>;
  /** Without it, a `SaveBar` has the button and the errors. */
  submit?: string;
  id?: string;
  danger?: boolean;
  isSecondary?: boolean;
  onCancel?: () => void;
  children: ReactNode;
};

/** Renders a form with its button and its errors; the first field with an error gets the focus. */
export function CallForm<Values extends object>({
  form,
  submit,
  id,
  danger = false,
  isSecondary = false,
  onCancel,
  children,
}: Props<Values>): ReactNode {
  const element = useRef<HTMLFormElement>(null);
  const { error } = form;
  useEffect(() => {
    if (error) element.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error]);
  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    if (!form.sending) form.submit();
  }
  return (
    <form ref={element} id={id} onSubmit={onSubmit} noValidate>
      {submit !== undefined && <FormError form={form} />}
      {children}
      {submit !== undefined && (
        <Group mt="lg" justify={onCancel ? "flex-end" : "flex-start"} gap="xs">
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              {texts.dashboard.cancel}
            </Button>
          )}
          <Button type="submit" loading={form.sending} color={danger ? "red" : undefined} variant={isSecondary ? "default" : "filled"}>
            {submit}
          </Button>
        </Group>
      )}
    </form>
  );
}

/** The error of a form, unless its fields show it. */
export function FormError<Values extends object>({ form: { error, values } }: { form: FormState<Values> }): ReactNode {
  const wrong = error ? explain(error).fields : [];
  const elsewhere = wrong.filter(({ path }) => !(fieldOf(path) in values));
  return wrong.length > 0 && elsewhere.length === 0 ? null : <ErrorPanel error={error} fields={elsewhere} />;
}

/** The name of the field that `body.name`, `body.lines.0` or `body` points to. */
function fieldOf(path: string): string {
  return /^body\.([^.[]+)/.exec(path)?.[1] ?? "";
}

/** What follows the name of the field in a path. */
function belowField(path: string): string {
  return path.slice(`body.${fieldOf(path)}`.length).replace(/^\./, "");
}

function fieldErrors(error: Error | null, name: string): readonly Detail[] {
  return error ? explain(error).fields.filter(({ path }) => fieldOf(path) === name) : [];
}

function fieldError(error: Error | null, name: string): string | undefined {
  const wrong = fieldErrors(error, name);
  return wrong.length === 0 ? undefined : sentence(wrong.map(({ message }) => message).join("; "));
}
