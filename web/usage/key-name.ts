import type { Key } from "../calls/members.ts";
import { texts } from "../texts/texts.ts";

/** The name of a key; its number once the key is gone. */
export function keyName(id: number, keys: Key[] = []): string {
  return keys.find((key) => key.id === id)?.name ?? texts.usage.keyName(id);
}
