import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { keysQuery } from "../keys/queries.ts";
import { membersQuery } from "../members/queries.ts";

/** The names of members and keys, by `member/3` and `key/5`. */
export type Names = ReadonlyMap<string, string>;

/** The names of the members and keys that still exist. Pages show others by number. */
export function useNames(): Names {
  const { data: members } = useQuery(membersQuery);
  const { data: keys } = useQuery(keysQuery);
  return useMemo(() => {
    const names = new Map<string, string>();
    for (const { id, email } of members ?? []) if (email !== null) names.set(`member/${id}`, email);
    for (const { id, name } of keys ?? []) names.set(`key/${id}`, name);
    return names;
  }, [members, keys]);
}
