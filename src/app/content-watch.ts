import { Problem } from "../platform/problem.ts";
import type { OpenContent } from "../publishing/edge/bodies.ts";

/** The most missing files that are remembered. */
const missingMax = 1_000;
/** Missing files that one `recheck` looks for. */
const rechecksMax = 10;

export type ContentWatch = {
  open: OpenContent;
  /** How many of the files that visitors asked for cannot be opened now; counts up to 1,000. */
  missing(): number;
  /** Looks again for some of the missing files. */
  recheck(): Promise<void>;
};

/** Opens published files, and remembers those that are missing or unreadable, or that do not have the size in their manifest. */
export function watchContent(openContent: OpenContent): ContentWatch {
  const missing = new Map<string, Parameters<OpenContent>>();

  const open: OpenContent = async (hash, encoding, size, site) => {
    const key = `${hash}.${encoding ?? ""}`;
    try {
      const handle = await openContent(hash, encoding, size, site);
      if ((await handle.stat()).size !== size) {
        await handle.close();
        throw new Error("the file does not have the size in its manifest");
      }
      if (missing.size > 0) missing.delete(key);
      return handle;
    } catch (error) {
      if (concernsFile(error) && missing.size < missingMax) missing.set(key, [hash, encoding, size, site]);
      throw error;
    }
  };

  async function recheck(): Promise<void> {
    for (const [key, file] of [...missing].slice(0, rechecksMax)) {
      missing.delete(key); // comes back at the end if it is still missing
      const handle = await open(...file).catch(() => undefined);
      await handle?.close();
    }
  }

  return { open, missing: () => missing.size, recheck };
}

/** Whether an error concerns the one file, not the store or the number of open files. */
function concernsFile(error: unknown): boolean {
  return !(error instanceof Problem) && !["EMFILE", "ENFILE"].includes((error as NodeJS.ErrnoException).code ?? "");
}
