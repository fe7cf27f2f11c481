import { TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { rereadList } from "../calls/rows.ts";
import { CallForm, useCallForm } from "../parts/call-form.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { texts } from "../texts/texts.ts";
import { createProject } from "./queries.ts";
import { slugFrom } from "./slug.ts";

const words = texts.projects;

/** A dialog to create a project, which then opens it. The slug follows the name until it is edited. */
export function NewProjectDialog({ onClose }: { onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isSlugTyped, setSlugTyped] = useState(false);
  const form = useCallForm({
    initial: { name: "", slug: "" },
    send: createProject,
    onDone: () => void rereadList(client, "/projects"),
    afterwards: ({ id }) => void navigate({ to: "/dashboard/projects/$projectId/shop", params: { projectId: String(id) } }),
  });
  const name = form.text("name");
  const slug = form.text("slug");
  return (
    <Dialog title={words.makeTitle} onClose={onClose}>
      <CallForm form={form} submit={words.create} onCancel={onClose}>
        <TextInput
          label={words.name}
          description={words.firstNameHint}
          required
          data-autofocus
          {...name}
          onChange={(event) => {
            name.onChange(event);
            if (!isSlugTyped) form.set("slug", slugFrom(event.currentTarget.value));
          }}
        />
        <TextInput
          mt="sm"
          label={words.slug}
          description={words.slugHint}
          required
          autoCapitalize="none"
          spellCheck={false}
          {...slug}
          onChange={(event) => {
            setSlugTyped(event.currentTarget.value !== "");
            slug.onChange(event);
          }}
        />
      </CallForm>
    </Dialog>
  );
}
