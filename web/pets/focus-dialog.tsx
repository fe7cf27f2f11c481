import { Button } from "@mantine/core";
import type { PointerEvent, ReactNode } from "react";
import { automaticFocus } from "../../src/platform/http/pictures.ts";
import { CallForm, useCallForm, type FormState } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { focusTexts as words } from "../texts/en-focus.ts";
import styles from "./focus-dialog.module.css";
import { positionOf, type Photo } from "./use-photos.ts";

type Focus = Photo["focus"];
type FormProps = { photo: Photo; onFocus: (focus: Focus) => void; onClose: () => void };

/** Asks for the focal point of a photo, which stays in view where the shop crops it. */
export default function FocusDialog({ place, ...rest }: FormProps & { place: number }): ReactNode {
  return (
    <Dialog size="lg" title={words.title(place)} onClose={rest.onClose}>
      <FocusForm {...rest} />
    </Dialog>
  );
}

function FocusForm({ photo, onFocus, onClose }: FormProps): ReactNode {
  const form = useCallForm<{ focus: Focus }, void>({
    initial: { focus: photo.focus },
    send: ({ focus }) => Promise.resolve(onFocus(focus)),
    afterwards: onClose,
  });
  const { x, y } = form.values.focus ?? automaticFocus;
  return (
    <CallForm form={form} submit={words.action} onCancel={onClose}>
      <p className={styles.hint}>{words.hint}</p>
      <div className={styles.pictures}>
        <Whole photo={photo} form={form} />
        <figure>
          <img src={photo.url} alt="" style={{ objectPosition: positionOf(form.values.focus) }} />
          <figcaption>{words.card}</figcaption>
        </figure>
      </div>
      <Slider label={words.across} value={x} onChange={(to) => form.set("focus", { x: to, y })} />
      <Slider label={words.down} value={y} onChange={(to) => form.set("focus", { x, y: to })} />
      <Button variant="subtle" size="compact-sm" onClick={() => form.set("focus", undefined)}>
        {words.automatic}
      </Button>
    </CallForm>
  );
}

/** The uncropped photo with the point. A pointer moves the point; the sliders do the same for keyboards and screen readers. */
function Whole({ photo, form }: { photo: Photo; form: FormState<{ focus: Focus }> }): ReactNode {
  const { x, y } = form.values.focus ?? automaticFocus;
  const moveTo = ({ nativeEvent: { offsetX, offsetY }, currentTarget: { clientWidth, clientHeight } }: PointerEvent): void =>
    form.set("focus", { x: percentOf(offsetX, clientWidth), y: percentOf(offsetY, clientHeight) });
  return (
    <div className={styles.whole}>
      <img
        src={photo.url}
        alt={photo.alt}
        draggable={false}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          moveTo(event);
        }}
        onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && moveTo(event)}
      />
      <span className={styles.point} style={{ left: `${x}%`, top: `${y}%` }} />
    </div>
  );
}

function Slider({ label, value, onChange }: { label: string; value: number; onChange: (value: number) => void }): ReactNode {
  return (
    <label className={styles.slider}>
      {label}
      <input
        type="range"
        min={0}
        max={100}
        value={value}
        aria-valuetext={`${value} %`}
        onChange={({ currentTarget }) => onChange(currentTarget.valueAsNumber)}
      />
    </label>
  );
}

function percentOf(offset: number, whole: number): number {
  return Math.min(100, Math.max(0, Math.round((offset / whole) * 100)));
}
