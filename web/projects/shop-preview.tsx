import { Button, SegmentedControl } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { explain, fieldSentence } from "../parts/explained.ts";
import { shopTexts } from "../texts/en-shop.ts";
import { deviceHere, ShopFrame } from "./shop-frame.tsx";
import styles from "./shop-preview.module.css";
import { previewQuery } from "./shop-queries.ts";
import type { ShopValues } from "./shop.ts";

const words = shopTexts.preview;
const typingMs = 500;
type Props = {
  projectId: number;
  deploymentId: number | null;
  values: ShopValues;
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
};

/** The first page of the shop with the form's values, once somebody asks for it. */
export function ShopPreview({ isOpen, setOpen, ...shown }: Props): ReactNode {
  return (
    <section className={styles.preview} aria-label={words.title}>
      {isOpen ? (
        <OpenPreview {...shown} onHide={() => setOpen(false)} />
      ) : (
        <>
          <h3 className={styles.title}>{words.title}</h3>
          <p className={styles.hint}>{words.hint}</p>
          <Button variant="default" onClick={() => setOpen(true)}>
            {words.show}
          </Button>
        </>
      )}
    </section>
  );
}

type OpenProps = Omit<Props, "isOpen" | "setOpen"> & { onHide: () => void };

/** Asks for a page when typing pauses. A newer request ends the one before, so one runs at a time. */
function OpenPreview({ projectId, deploymentId, values, onHide }: OpenProps): ReactNode {
  const [settled] = useDebouncedValue(values, typingMs);
  const [device, setDevice] = useState(deviceHere);
  const { data, error } = useQuery({ ...previewQuery(projectId, deploymentId, settled), placeholderData: keepPreviousData });
  const last = useLast(data);
  return (
    <>
      <div className={styles.controls}>
        <SegmentedControl
          size="xs"
          aria-label={words.device}
          data={[
            { value: "computer", label: words.computer },
            { value: "phone", label: words.phone },
          ]}
          value={device}
          onChange={(value) => setDevice(value)}
        />
        <Button variant="subtle" size="compact-sm" onClick={onHide}>
          {words.hide}
        </Button>
      </div>
      <ShopFrame html={last ?? ""} device={device} />
      <output className={styles.wrong}>{error && words.failed + reasonOf(error)}</output>
    </>
  );
}

/** The newest value that there was: a page that could not be made leaves the one before in place. */
function useLast<Value>(value: Value | undefined): Value | undefined {
  const [last, setLast] = useState(value);
  if (value !== undefined && value !== last) setLast(value);
  return value ?? last;
}

function reasonOf(error: Error): string {
  const { message, fields } = explain(error);
  return message ?? fields.map(fieldSentence).join(" ");
}
