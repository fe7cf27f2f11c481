import type { QueryClient } from "@tanstack/react-query";
import { sendChanges } from "../calls/changes.ts";
import { Refusal } from "../calls/refusal.ts";
import { notify } from "../parts/notices.ts";
import { binTexts as words } from "../texts/en-bin.ts";
import { formatNumber } from "../texts/texts.ts";
import { returnAndSay } from "./returning.ts";

/** Moves a pet into the bin. @throws Refusal if it has an open order, or does not exist */
export async function binPet(petId: number): Promise<void> {
  const [result] = await sendChanges([{ id: petId, delete: true }]);
  const { code, message } = result ?? {};
  if (code !== undefined) throw new Refusal(code, message ?? "", { status: 409 });
}

/** Undoes the deletion of animals. One whose category is gone stays in the bin, and a notice says so. @throws Refusal */
export async function undoDeletion(client: QueryClient, ids: readonly number[], onDone?: (done: number) => void): Promise<void> {
  const homeless = await returnAndSay(client, ids, onDone && { onDone });
  if (homeless.length > 0) notify(words.homeless(formatNumber(homeless.length)), { isFailure: true });
}
