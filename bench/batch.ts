import { join } from "node:path";
import { cpuMsOf } from "./cpu.ts";
import { measureAlternately, type Figure } from "./figures.ts";
import { runOnServerCore } from "./processes.ts";
import { makeFolder, openShop, type Shop } from "./shop.ts";

const rounds = 5;
const size = 1_000;
/** Batches in a round. */
const batches = 15;

/** Compares `POST /pets/batch`, one batch after another, with bare inserts of the same rows into the same table and indexes. */
export async function measureBatch(): Promise<Figure> {
  const [folder, bare] = [makeFolder(), makeFolder()];
  const shop = await openShop(folder);
  const bareShop = await openShop(bare);
  await Promise.all([shop, bareShop].map((one) => one.ask("POST", "/categories", { name: "Dogs" })));
  await bareShop.stop();
  try {
    const inserts = { file: join(bare.dataDir, "petstore.db"), accountId: bare.accountId, batches, size };
    const measured = await measureAlternately(
      rounds,
      () => rowsPerCpuSecond(shop),
      async () =>
        Number(
          await runOnServerCore([process.execPath, join(import.meta.dirname, "bare-inserts.ts")], { INSERTS: JSON.stringify(inserts) }),
        ),
    );
    const what = "`POST /pets/batch` of 1,000 / bare SQLite inserts of the same rows and indexes, durable";
    return { id: "batch", what, ...measured, unit: "rows a second of CPU", goal: "≥ 0.4" };
  } finally {
    await shop.stop();
    folder.remove();
    bare.remove();
  }
}

let sent = 0;

async function rowsPerCpuSecond(shop: Shop): Promise<number> {
  const before = cpuMsOf(shop.pid);
  for (let batch = 0; batch < batches; batch++) {
    const pets = Array.from({ length: size }, () => ({ name: `Animal ${++sent}`, categoryId: 1 }));
    const answer = await shop.ask("POST", "/pets/batch", pets);
    await answer.arrayBuffer();
    if (answer.status !== 201) throw new Error(`a batch got ${answer.status}`);
  }
  return (batches * size * 1_000) / (cpuMsOf(shop.pid) - before);
}
