import { Button } from "@mantine/core";
import { useEffect, useRef, type ReactNode } from "react";
import { FormError, type FormState } from "./call-form.tsx";
import styles from "./save-bar.module.css";

type Props<Values> = {
  /** The form's `id`. */
  of: string;
  form: FormState<Values>;
  label: string;
  said: string;
  /** Whether the button takes the focus, because the page was drawn anew after it was pressed. */
  takesFocus?: boolean;
  children?: ReactNode;
};

/** The bar that saves a page. It stays at the lower edge of the window while the form is taller. */
export function SaveBar<Values extends object>({ of, form, label, said, takesFocus = false, children }: Props<Values>): ReactNode {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (takesFocus) button.current?.focus({ preventScroll: true });
  }, [takesFocus]);
  return (
    <div className={styles.bar}>
      <div className={styles.error}>
        <FormError form={form} />
        {children}
      </div>
      <output className={styles.said}>{said}</output>
      <Button ref={button} type="submit" form={of} variant="filled" loading={form.sending}>
        {label}
      </Button>
    </div>
  );
}
