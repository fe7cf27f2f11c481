import { Button, FileButton, Group } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { pictureTypes } from "../../src/platform/http/pictures.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { notify } from "../parts/notices.ts";
import { shopTexts } from "../texts/en-shop.ts";
import styles from "./projects.module.css";
import { rereadSite } from "./queries.ts";
import { removeLogo, setLogo } from "./shop.ts";
import { logoName } from "./storefront.ts";

const words = shopTexts.logo;

type Props = { projectId: number; settings: string; /** In base64; null if none was uploaded here. */ logo: string | null };

/** The shop's logo, which is published as soon as it is chosen. */
export function ShopLogo({ projectId, settings, logo }: Props): ReactNode {
  const client = useQueryClient();
  const name = logoName(settings);
  const { mutate, isPending, error } = useMutation({
    mutationFn: (file: File | null) => (file === null ? removeLogo(projectId) : setLogo(projectId, file)),
    onSuccess: (_, file) => {
      notify(file === null ? words.removed : words.saved);
      void rereadSite(client, projectId);
    },
  });
  return (
    <fieldset className={styles.logo}>
      <legend className={styles.logoTitle}>{words.title}</legend>
      <p className={styles.hint}>{words.hint}</p>
      <ErrorPanel error={error} />
      {logo === null ? name !== undefined && <p className={styles.hint}>{words.ownFile(name)}</p> : <Preview logo={logo} />}
      <Group gap="xs">
        <FileButton accept={pictureTypes.join(",")} onChange={(file) => file && mutate(file)}>
          {(props) => (
            <Button variant="default" size="compact-sm" loading={isPending} {...props}>
              {name === undefined ? words.choose : words.replace}
            </Button>
          )}
        </FileButton>
        {name !== undefined && (
          <Button variant="subtle" size="compact-sm" disabled={isPending} onClick={() => mutate(null)}>
            {words.remove}
          </Button>
        )}
      </Group>
    </fieldset>
  );
}

function Preview({ logo }: { logo: string }): ReactNode {
  return <img key={logo} className={styles.logoPreview} ref={(image) => showIn(image, logo)} alt={words.preview} />;
}

/** Shows a logo in base64 in an image. Returns the function that frees its bytes. */
function showIn(image: HTMLImageElement | null, logo: string): (() => void) | undefined {
  if (image === null) return undefined;
  const bytes = Uint8Array.from(atob(logo), (character) => character.codePointAt(0)!);
  const url = URL.createObjectURL(new Blob([bytes], { type: "image/webp" }));
  image.src = url;
  return () => URL.revokeObjectURL(url);
}
