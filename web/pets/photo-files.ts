import { useState, type DragEvent } from "react";
import { pictureBytesMax, pictureTypes } from "../../src/platform/http/pictures.ts";
import { profileTexts as words } from "../texts/en-profile.ts";
import { formatBytes, formatNumber } from "../texts/texts.ts";

/** The most photos of one animal. */
export const photosMax = 10;
/** The most files that are named for one reason. */
const namedMax = 5;

type Chosen = { taken: File[]; /** Why the others were not taken, with their names. */ notTaken: string | undefined };

/** Which of the files that were dropped or chosen become photos, of which there is room for `room`. */
function picturesAmong(files: readonly File[], room: number): Chosen {
  const isPicture = ({ type }: File): boolean => pictureTypes.includes(type);
  const [kinds, others] = [files.filter((file) => !isPicture(file)), files.filter(isPicture)];
  const large = others.filter(({ size }) => size > pictureBytesMax);
  const fitting = others.filter(({ size }) => size <= pictureBytesMax);
  const reasons = [
    [kinds, words.wrongKind],
    [large, words.tooLarge(formatBytes(pictureBytesMax))],
    [fitting.slice(room), words.tooMany(photosMax)],
  ] as const;
  const said = reasons.flatMap(([those, why]) => (those.length > 0 ? [words.refused(namesOf(those), why)] : []));
  return { taken: fitting.slice(0, room), notTaken: said.length > 0 ? said.join(" ") : undefined };
}

function namesOf(files: readonly File[]): string {
  const more = files.length - namedMax;
  return [...files.slice(0, namedMax).map(({ name }) => `“${name}”`), ...(more > 0 ? [words.more(formatNumber(more))] : [])].join(", ");
}

/** Takes pictures that are dropped or chosen. `notTaken` says which files of the last ones it left out, and why. */
export function usePictures(room: number, onTaken: (files: File[]) => void) {
  const [notTaken, setNotTaken] = useState<Error | null>(null);
  function take(files: readonly File[]): void {
    if (files.length === 0) return;
    const chosen = picturesAmong(files, room);
    setNotTaken(chosen.notTaken === undefined ? null : new Error(chosen.notTaken));
    if (chosen.taken.length > 0) onTaken(chosen.taken);
  }
  const dropProps = {
    onDragOver: (event: DragEvent) => event.preventDefault(),
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      take(Array.from(event.dataTransfer.files));
    },
  };
  return { notTaken, take, dropProps };
}
