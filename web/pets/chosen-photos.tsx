import { Button, FileButton } from "@mantine/core";
import type { DragEvent, ReactNode } from "react";
import { pictureTypes } from "../../src/platform/http/pictures.ts";
import { animalTexts as words } from "../texts/en-animal.ts";
import { profileTexts } from "../texts/en-profile.ts";
import styles from "./animal-page.module.css";

const photosMax = 10;

/** The pictures among the files that were dropped. */
export function picturesOf({ dataTransfer }: DragEvent): File[] {
  return Array.from(dataTransfer.files).filter(({ type }) => (pictureTypes as readonly string[]).includes(type));
}

/** The photos of an animal that is not created yet. */
export function ChosenPhotos({ files, onChange }: { files: File[]; onChange: (files: File[]) => void }): ReactNode {
  const add = (more: File[]): void => onChange([...files, ...more].slice(0, photosMax));
  return (
    <div
      className={styles.drop}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        add(picturesOf(event));
      }}
    >
      {files.length > 0 && (
        <ul className={styles.chosen}>
          {files.map((file, i) => (
            <li key={`${file.name} ${file.size} ${file.lastModified}`}>
              <Preview file={file} />
              <Button variant="subtle" size="compact-sm" onClick={() => onChange(files.filter((_, place) => place !== i))}>
                {profileTexts.remove(i + 1)}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <p>{files.length === 0 ? words.dropHere : words.photosLater}</p>
      <FileButton multiple accept={pictureTypes.join(",")} onChange={add}>
        {(props) => (
          <Button variant="default" {...props}>
            {profileTexts.add}
          </Button>
        )}
      </FileButton>
    </div>
  );
}

function Preview({ file }: { file: File }): ReactNode {
  const show = (picture: HTMLImageElement): (() => void) => {
    const url = URL.createObjectURL(file);
    picture.src = url;
    return () => URL.revokeObjectURL(url);
  };
  return <img ref={show} alt={file.name} />;
}
