import { FileInput, NativeSelect, Textarea } from "@mantine/core";
import type { KeyboardEvent, ReactNode } from "react";
import { referenceTexts, tryItTexts } from "../../texts/en-reference.ts";
import type { Content } from "../description.ts";
import styles from "./panel.module.css";
import { exampleBody, isJson, type Draft } from "./request.ts";

type Props = { contents: Content[]; draft: Draft; onChange: (draft: Draft) => void; onKeyDown: (event: KeyboardEvent) => void };

/** The field for the request body: text for JSON, otherwise a file. */
export function BodyField({ contents, draft, onChange, onKeyDown }: Props): ReactNode {
  const { mediaType, body, file } = draft;
  return (
    <div className={styles.body}>
      {contents.length > 1 && (
        <NativeSelect
          mb={12}
          label={referenceTexts.mediaType}
          data={contents.map(({ type }) => type)}
          value={mediaType}
          onChange={(event) => onChange(withMediaType(event.currentTarget.value))}
        />
      )}
      {isJson(mediaType) ? (
        <>
          <Textarea
            label={tryItTexts.body}
            value={body}
            autosize
            minRows={4}
            maxRows={18}
            spellCheck={false}
            onChange={(event) => onChange({ ...draft, body: event.currentTarget.value })}
            onKeyDown={onKeyDown}
          />
          {!parses(body) && <p className={styles.warning}>{tryItTexts.notJson}</p>}
        </>
      ) : (
        <FileInput
          label={tryItTexts.body}
          placeholder={mediaType}
          value={file ?? null}
          clearable
          onChange={(chosen) => onChange({ ...draft, file: chosen ?? undefined })}
        />
      )}
    </div>
  );

  /** Keeps typed text for the new type, but replaces the old type's example by the new one's. */
  function withMediaType(type: string): Draft {
    const isExample = body === exampleBody(contents.find((content) => content.type === mediaType));
    return { ...draft, mediaType: type, body: isExample ? exampleBody(contents.find((content) => content.type === type)) : body };
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
