import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { Refusal } from "../calls/refusal.ts";
import { texts } from "../texts/texts.ts";
import type { Chosen } from "./chosen.ts";
import type { Packed } from "./pack.ts";
import { rereadSite } from "./queries.ts";

/** The progress of an upload; `part` is between 0 and 1. `again` sends the same archive once more. */
export type UploadState =
  | { step: "none" }
  | { step: "packing" | "sending"; part: number }
  | { step: "sent"; deploymentId: number; leftOut: readonly string[] }
  | { step: "refused"; error: Error; again: Packed | undefined };

const none: UploadState = { step: "none" };

/** Packs and sends one upload at a time. `stop`, a new upload or leaving the page cancels it. */
export function useUpload(projectId: number) {
  const client = useQueryClient();
  const [state, setState] = useState<UploadState>(none);
  const running = useRef<AbortController>(undefined);
  const leftOut = useRef<readonly string[]>([]);
  const isRunning = state.step === "packing" || state.step === "sending";

  useEffect(() => () => running.current?.abort(), []);
  useEffect(() => {
    if (!isRunning) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isRunning]);

  const run = useCallback(
    async (prepare: (options: { onProgress: (part: number) => void; signal: AbortSignal }) => Promise<Packed>) => {
      running.current?.abort();
      const { signal } = (running.current = new AbortController());
      const report = (next: UploadState): void => {
        if (!signal.aborted) setState(next);
      };
      let packed: Packed | undefined;
      try {
        report({ step: "packing", part: 0 });
        packed = await prepare({ onProgress: (part) => report({ step: "packing", part }), signal });
        report({ step: "sending", part: 0 });
        const { upload } = await loaded(import("./upload.ts"));
        const { id } = await upload(projectId, packed, { onProgress: (part) => report({ step: "sending", part }), signal });
        await rereadSite(client, projectId);
        report({ step: "sent", deploymentId: id, leftOut: leftOut.current });
      } catch (error) {
        report({ step: "refused", error: error instanceof Error ? error : new Error(String(error)), again: packed });
      }
    },
    [client, projectId],
  );
  const start = useCallback(
    (choose: () => Chosen | Promise<Chosen>) =>
      run(async (options) => {
        const chosen = await choose();
        const { packFolder, publishable, shown, takeArchive } = await loaded(import("./pack.ts"));
        leftOut.current = [];
        if (chosen.kind === "archive") return takeArchive(chosen.file);
        const found = publishable(chosen.files);
        leftOut.current = shown([...chosen.leftOut, ...found.leftOut]);
        return packFolder(found.files, options);
      }),
    [run],
  );
  const again = useCallback((packed: Packed) => run(() => Promise.resolve(packed)), [run]);
  const stop = useCallback(() => {
    running.current?.abort();
    setState(none);
  }, []);
  return { state, start, again, stop };
}

/** Waits for code that is loaded once a site is chosen. @throws Refusal if it cannot be loaded */
function loaded<Code>(code: Promise<Code>): Promise<Code> {
  return code.catch((cause: unknown) => {
    throw new Refusal("unreachable", texts.dashboard.unreachable, { status: 0, cause });
  });
}
