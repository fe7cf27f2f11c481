import { Button, FileButton } from "@mantine/core";
import type { ReactNode } from "react";
import { pictureTypes } from "../../src/platform/http/pictures.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { animalTexts as words } from "../texts/en-animal.ts";
import { profileTexts } from "../texts/en-profile.ts";
import styles from "./animal-page.module.css";
import { photosMax, usePictures } from "./photo-files.ts";

/** The photos of an animal that is not created yet. */
export function ChosenPhotos({ files, onChange }: { files: File[]; onChange: (files: File[]) => void }): ReactNode {
  const { notTaken, take, dropProps } = usePictures(photosMax - files.length, (more) => onChange([...files, ...more]));
  return (
    <div className={styles.drop} {...dropProps}>
      <ErrorPanel error={notTaken} />
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
      <FileButton multiple accept={pictureTypes.join(",")} onChange={take}>
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
