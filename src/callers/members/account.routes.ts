import { Type } from "../../platform/json-schema.ts";
import { operation, type Operation } from "../../platform/http/operation.ts";
import { Text } from "../../platform/http/schemas.ts";
import { accountName, lowStockSchema } from "../accounts/accounts.ts";
import { updateAccount } from "../accounts/accounts.store.ts";
import { CurrentUser, personOf } from "./responses.ts";
import { currentUser } from "./sign-in.ts";

/** What owners change of their own account. */
export const accountRoutes: Operation<object>[] = [
  operation({
    operationId: "updateAccount",
    method: "PATCH",
    path: "/account",
    tag: "Account",
    summary: "Change the account",
    description: "Changes the name of the shop, or the free units at or below which the stock of an animal is low.",
    scope: "members:write",
    body: Type.Object(
      { name: Type.Optional(Text("The new name.", 1, 200)), lowStock: Type.Optional(lowStockSchema) },
      { additionalProperties: false },
    ),
    answers: { 200: { description: "The current user, with the account as it is now.", schema: CurrentUser } },
    handle: async ({ db, caller, body }) => {
      const { accountId, memberId } = personOf(caller);
      const asked = { ...body, ...(body.name !== undefined && { name: accountName(body.name) }) };
      await db.write((tx) => updateAccount(tx, accountId, asked));
      return { status: 200, body: await currentUser(db, accountId, memberId) };
    },
  }),
];
