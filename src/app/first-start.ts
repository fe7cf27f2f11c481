import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createFirst, type FirstAccount } from "../administration/accounts.ts";
import { someoneHasSignedIn } from "../callers/members/members.store.ts";
import type { Clock } from "../platform/clock.ts";
import { writeDurablySync } from "../platform/files.ts";
import type { Settings } from "./settings.ts";
import type { Storage } from "./storage.ts";

export type FirstStart = ReturnType<typeof openFirstStart>;

/** Shows the account that the first start creates: as text on a terminal, otherwise as a log line and in a file. */
export function openFirstStart(
  { db, untilAnswered }: Pick<Storage, "db" | "untilAnswered">,
  clock: Clock,
  { publicUrl, dataDir }: Pick<Settings, "publicUrl" | "dataDir">,
) {
  const path = join(dataDir, "first-sign-in");
  const forget = (): Promise<void> => rm(path, { force: true });
  return {
    /**
     * Creates an account if there is none yet, and shows its key and sign-in link.
     *
     * @param print writes to standard output before it returns
     */
    make(print: (text: string) => void, isTerminal: boolean): Promise<void> {
      const show = (first: FirstAccount): void => {
        if (isTerminal) return print(greeting(first, publicUrl));
        const line = JSON.stringify({ level: 30, time: clock(), msg: "first start", ...first });
        writeDurablySync(path, `${line}\n`);
        print(line);
      };
      return untilAnswered(() => createFirst({ db, clock, publicUrl }, show));
    },
    /** Deletes the file after a sign-in at this node. */
    forget,
    /** Deletes the file if someone has signed in on another node, or just before an earlier process ended. */
    async sweep(): Promise<void> {
      if (existsSync(path) && (await someoneHasSignedIn(db))) await forget();
    },
  };
}

function greeting({ account, key, link }: FirstAccount, publicUrl: string): string {
  return `
This is its first start: account ${account.id} (${account.name}, plan ${account.plan}) was created for you. Its key, shown only now:

  ${key}

Sign in to the dashboard once, within 15 minutes, at

  ${link}

To create another link: npm run petstore -- members invite --account ${account.id} --email YOU@EXAMPLE.COM --role owner

Try it:

  export API_KEY=${key} BASE_URL=${publicUrl}/v1
  curl -X POST "$BASE_URL/categories" -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" -d '{"name":"Dogs"}'
  curl -X POST "$BASE_URL/pets" -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" -d '{"name":"Rex","categoryId":1}'
  curl "$BASE_URL/pets" -H "Authorization: Bearer $API_KEY"
`;
}
