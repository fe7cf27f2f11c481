import { PasswordInput, Stack } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { ask, type CurrentUser } from "../calls/members.ts";
import { reread, showAnswer } from "../calls/rows.ts";
import { sessionQuery, useSession } from "../dashboard/session.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { notify } from "../parts/notices.ts";
import { Section } from "../parts/page-header.tsx";
import { texts } from "../texts/texts.ts";
import styles from "./account.module.css";
import { sessionsQuery } from "./queries.ts";

/** The form for changing the member's own password. */
export function Password(): ReactNode {
  const [changes, setChanges] = useState(0);
  return (
    <Section title={texts.account.passwordTitle} lead={texts.account.passwordLead}>
      {/* a new form after each change, so that no typed text stays */}
      <PasswordForm key={changes} onChanged={() => setChanges(changes + 1)} />
    </Section>
  );
}

function PasswordForm({ onChanged }: { onChanged: () => void }): ReactNode {
  const client = useQueryClient();
  const { member } = useSession();
  const form = useCallForm({
    initial: { currentPassword: "", password: "" },
    send: (body) => ask("PUT /password", { body }),
    onDone: (user: CurrentUser) => {
      showAnswer(client, sessionQuery.queryKey, user);
      void reread(client, sessionsQuery);
      notify(texts.account.passwordChanged);
      onChanged();
    },
  });
  return (
    <div className={styles.panel}>
      <CallForm form={form} submit={texts.account.changePassword}>
        <Stack gap="md">
          {/* for password managers, which save the email with the password */}
          <input type="text" autoComplete="username" value={member.email ?? ""} readOnly hidden />
          <PasswordInput label={texts.account.currentPassword} autoComplete="current-password" {...form.text("currentPassword")} />
          <PasswordInput
            label={texts.account.newPassword}
            description={texts.account.newPasswordHint}
            autoComplete="new-password"
            {...form.text("password")}
          />
        </Stack>
      </CallForm>
    </div>
  );
}
