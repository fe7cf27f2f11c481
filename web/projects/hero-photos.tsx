import { Group, Radio } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { profileQuery } from "../pets/profile-query.ts";
import { positionOf, smallOf } from "../pets/use-photos.ts";
import { profileTexts } from "../texts/en-profile.ts";
import { shopTexts } from "../texts/en-shop.ts";
import styles from "./hero-photos.module.css";

/** `photoId`: the chosen photo; undefined for the first one, whichever that is. */
type Props = { petId: number; photoId: number | undefined; onChange: (photoId: number | undefined) => void };

/** Offers the photos of an animal, if it has several, for the top of the first page. If the chosen one is gone, the first is selected. */
export default function HeroPhotos({ petId, photoId, onChange }: Props): ReactNode {
  const { data: profile } = useQuery(profileQuery(petId));
  const photos = profile?.value.photos ?? [];
  if (photos.length < 2) return null;
  const chosen = photos.find(({ id }) => id === photoId) ?? photos[0]!;
  return (
    <Radio.Group
      mt="sm"
      label={shopTexts.hero.photo}
      value={String(chosen.id)}
      onChange={(id) => onChange(id === String(photos[0]!.id) ? undefined : Number(id))}
    >
      <Group gap="md" mt="xs">
        {photos.map((photo, i) => (
          <Radio
            key={photo.id}
            value={String(photo.id)}
            label={
              <img
                className={styles.photo}
                src={smallOf(photo).url}
                alt={photo.alt || profileTexts.photo(i + 1)}
                style={{ objectPosition: positionOf(photo.focus) }}
              />
            }
          />
        ))}
      </Group>
    </Radio.Group>
  );
}
