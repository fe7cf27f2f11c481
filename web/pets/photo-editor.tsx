import { Button, FileButton, TextInput } from "@mantine/core";
import { lazy, Suspense, useState, type KeyboardEvent, type ReactNode } from "react";
import { pictureTypes } from "../../src/platform/http/pictures.ts";
import { GripIcon } from "../frame/icons.tsx";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { profileTexts as words } from "../texts/en-profile.ts";
import styles from "./photo-editor.module.css";
import { photosMax, usePictures } from "./photo-files.ts";
import { movedTo } from "./photo-order.ts";
import { useDrag } from "./use-drag.ts";
import { positionOf, smallOf, usePhotos, type Photo } from "./use-photos.ts";

const FocusDialog = lazy(() => import("./focus-dialog.tsx"));

/** A pet's photos; the first is the cover. Dragging, buttons and the arrow keys change their order. */
export function PhotoEditor({ petId, photos: saved }: { petId: number; photos: Photo[] }): ReactNode {
  const { photos, isAdding, error, edit, add } = usePhotos(petId, saved);
  const [said, say] = useState("");
  const { list, over, handlersOf } = useDrag(move);
  const count = photos.length;
  const { notTaken, take, dropProps } = usePictures(photosMax - count, (files) => void add(files));

  function move(from: number, to: number): void {
    const photo = photos[from];
    if (!photo || to < 0 || to >= count || to === from) return;
    say(to === 0 ? words.movedToCover(from + 1) : words.moved(from + 1, to + 1, count));
    void edit((all) => movedTo(all, photo.id, to));
  }
  const change = (id: number, more: Partial<Photo>): void =>
    void edit((all) => all.map((one) => (one.id === id ? { ...one, ...more } : one)));
  return (
    <div className={styles.photos} {...dropProps}>
      <ErrorPanel error={notTaken} />
      {error && <ErrorPanel error={error} />}
      {count > 1 && <p className={styles.hint}>{words.orderHint}</p>}
      <ul ref={list}>
        {photos.map((photo, index) => (
          <li key={photo.id} data-over={over === index}>
            <div className={styles.frame} {...(count > 1 && handlersOf(index))}>
              <Picture photo={photo} place={index + 1} isMovable={count > 1} />
            </div>
            {count > 1 && <MoveButtons place={index + 1} count={count} onMove={(by) => move(index, index + by)} />}
            <Alt photo={photo} place={index + 1} onAlt={(alt) => change(photo.id, { alt })} />
            <Focus photo={photo} place={index + 1} onFocus={(focus) => change(photo.id, { focus })} />
            <Button variant="subtle" size="compact-sm" onClick={() => void edit((all) => all.filter(({ id }) => id !== photo.id))}>
              {words.remove(index + 1)}
            </Button>
          </li>
        ))}
      </ul>
      <output className={styles.said}>{said}</output>
      {count < photosMax && (
        <FileButton multiple accept={pictureTypes.join(",")} onChange={take}>
          {(props) => (
            <Button variant="default" loading={isAdding} {...props}>
              {isAdding ? words.adding : words.add}
            </Button>
          )}
        </FileButton>
      )}
    </div>
  );
}

function Picture({ photo, place, isMovable }: { photo: Photo; place: number; isMovable: boolean }): ReactNode {
  return (
    <>
      <img
        src={smallOf(photo).url}
        alt={photo.alt || words.photo(place)}
        draggable={false}
        style={{ objectPosition: positionOf(photo.focus) }}
      />
      {place === 1 && <span className={styles.cover}>{words.cover}</span>}
      {isMovable && (
        <span className={styles.grip} data-grip>
          <GripIcon />
        </span>
      )}
    </>
  );
}

function Alt({ photo: { alt }, place, onAlt }: { photo: Photo; place: number; onAlt: (alt: string) => void }): ReactNode {
  return (
    <TextInput
      key={alt}
      label={words.alt(place)}
      description={words.altHint}
      defaultValue={alt}
      maxLength={500}
      onBlur={({ currentTarget: { value } }) => value !== alt && onAlt(value)}
    />
  );
}

type FocusProps = { photo: Photo; place: number; onFocus: (focus: Photo["focus"]) => void };

/** A button that opens the dialog for the focal point of a photo. */
function Focus(props: FocusProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="subtle" size="compact-sm" aria-label={words.focusOf(props.place)} onClick={() => setOpen(true)}>
        {words.focus}
      </Button>
      <Suspense>{isOpen && <FocusDialog {...props} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}

type MoveProps = { place: number; count: number; onMove: (by: -1 | 1) => void };

/** At either end of the list a button stays but does nothing: if it were removed or disabled, it would lose the focus. */
function MoveButtons({ place, count, onMove }: MoveProps): ReactNode {
  const onKeyDown = ({ key }: KeyboardEvent): void => {
    if (key === "ArrowLeft") onMove(-1);
    if (key === "ArrowRight") onMove(1);
  };
  const shared = { variant: "default", size: "compact-sm", onKeyDown } as const;
  return (
    <div className={styles.moves}>
      <Button {...shared} aria-disabled={place === 1} aria-label={words.leftOf(place)} onClick={() => onMove(-1)}>
        ←
      </Button>
      <Button {...shared} aria-disabled={place === count} aria-label={words.rightOf(place)} onClick={() => onMove(1)}>
        →
      </Button>
    </div>
  );
}
