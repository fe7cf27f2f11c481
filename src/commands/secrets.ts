import { loadSettings, type Settings } from "../app/settings.ts";
import { withAdministration } from "./administer.ts";
import { countOf, type Command, type Outcome } from "./command.ts";

export const secretsRotate: Command = {
  name: "secrets rotate",
  summary: "Encrypt every secret with the newest key, and say when earlier keys may go and what still needs them",
  options: {
    "drop-earlier": {
      about: "remove the earlier keys from secrets.key instead of making a new one; refused while a copy in DATA_DIR needs one",
    },
  },
  async run({ options }, io) {
    const settings = loadSettings(io.env);
    const { secretsKey } = settings;
    const dropEarlier = options["drop-earlier"] === true;
    const keys = secretsKey === null ? undefined : [...secretsKey.byId.keys()];
    if (dropEarlier && secretsKey === null) await requireNoCopies(settings);
    return withAdministration(io, "petstore secrets rotate", async (call) => {
      let rotated = 0;
      for (let begin = true; ; begin = false) {
        const step = await call("secrets.rotate", { begin, dropEarlier, keys });
        rotated += step.rotated;
        if (step.left === 0) return outcomeOf(settings, { ...step, rotated, dropEarlier });
        io.stderr.write(`Encrypted ${rotated} of ${rotated + step.left} secrets again.\n`);
      }
    });
  },
};

async function requireNoCopies(settings: Settings): Promise<void> {
  const { copiesWithEarlierKeys } = await import("../backup/secrets.ts");
  const { Problem } = await import("../platform/problem.ts");
  const [first] = copiesWithEarlierKeys(settings);
  if (first === undefined) return;
  const [path, ids] = first;
  throw new Problem("invalid_request", `${path} needs ${named(ids)}: nothing was changed. Delete that copy first, or keep the key.`);
}

type RotationResult = { current: string; earlier: string[]; rotated: number; nodesBehind: number; inFile: boolean; dropEarlier: boolean };

async function outcomeOf(settings: Settings, finished: RotationResult): Promise<Outcome> {
  const { current, earlier, rotated, nodesBehind, inFile, dropEarlier } = finished;
  const { copiesWithEarlierKeys } = await import("../backup/secrets.ts");
  const copies = copiesWithEarlierKeys(settings, earlier);
  const needed = new Set([...copies.values()].flat());
  const mayGo = nodesBehind === 0 ? earlier.filter((id) => !needed.has(id)) : [];
  const json = { current, rotated, nodesBehind, mayGo, neededBy: Object.fromEntries(copies) };
  const done = rotated === 0 ? "No secret has an earlier key." : `Encrypted ${countOf(rotated, "secret")} again, all with key ${current}.`;
  if (nodesBehind > 0) {
    const which = nodesBehind === 1 ? "1 node still encrypts" : `${nodesBehind} nodes still encrypt`;
    const text = `${done} Keep the earlier key: ${which} with it. Restart with the new key first in SECRETS_KEY, then run this again.`;
    return { json, text, exitCode: 1 };
  }
  if (earlier.length === 0) return { json, text: done };
  if (inFile && dropEarlier)
    return { json, text: `${done} The earlier ${named(earlier)} ${isOrAre(earlier)} removed from secrets.key: back the file up again.` };
  return { json, text: [`${done} ${inFile ? keptInFile(earlier) : leavesService(earlier)}`, ...needs(copies, earlier)].join("\n") };
}

function keptInFile(earlier: string[]): string {
  return (
    `secrets.key keeps the earlier ${named(earlier)}, which the service no longer needs: back the file up again. ` +
    "`petstore secrets rotate --drop-earlier` removes it."
  );
}

function leavesService(earlier: string[]): string {
  return `The earlier ${named(earlier)} can be removed from the service: start every node with the first key of SECRETS_KEY alone.`;
}

/** What an earlier key is still needed for. */
function needs(copies: Map<string, string[]>, earlier: string[]): string[] {
  const known = [...copies].map(([path, ids]) => `${path} needs ${named(ids)}: keep it as long as that copy.`);
  return [...known, `Backups and copies from before that do not hold their key need ${named(earlier)}: keep it as long as you keep them.`];
}

function named(ids: string[]): string {
  return `${ids.length === 1 ? "key" : "keys"} ${ids.join(", ")}`;
}

function isOrAre({ length }: string[]): string {
  return length === 1 ? "is" : "are";
}
