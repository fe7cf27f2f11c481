import { Button, Group, Modal } from "@mantine/core";
import { createContext, use, useCallback, useEffect, useId, useRef, useState, type ReactNode } from "react";
import { texts } from "../texts/texts.ts";

/** The question that a dialog asks before it closes and loses something. */
export type Question = { title: string; text: string; leave: string; stay: string };
type Register = (id: string, question: Question | undefined) => void;

export const Guard = createContext<Register | undefined>(undefined);

/** While `isUnsaved`, the enclosing dialog or panel asks `question` before Esc or its close button closes it. */
export function useUnsaved(isUnsaved: boolean, question: Question = texts.dashboard.unsaved): void {
  const register = use(Guard);
  const id = useId();
  useEffect(() => {
    register?.(id, isUnsaved ? question : undefined);
    return () => register?.(id, undefined);
  }, [register, id, isUnsaved, question]);
}

/** Holds what is unsaved within a `Guard`: `first` returns the question of one of its components, if any. */
export function useQuestions(): { register: Register; first: () => Question | undefined } {
  const unsaved = useRef(new Map<string, Question>());
  const register = useCallback<Register>((id, question) => {
    if (question) unsaved.current.set(id, question);
    else unsaved.current.delete(id);
  }, []);
  const first = useCallback(() => unsaved.current.values().next().value, []);
  return { register, first };
}

/** Returns `close`, which asks first while a component within `guard` has something unsaved. */
export function useGuard(onClose: () => void): { close: () => void; guard: (content: ReactNode) => ReactNode } {
  const { register, first } = useQuestions();
  const [asked, setAsked] = useState<Question>();
  function close(): void {
    const question = first();
    if (question) setAsked(question);
    else onClose();
  }
  return { close, guard };

  function guard(content: ReactNode): ReactNode {
    return (
      <Guard value={register}>
        {content}
        {asked && <Ask question={asked} onStay={() => setAsked(undefined)} onLeave={onClose} />}
      </Guard>
    );
  }
}

type AskProps = { question: Question; onStay: () => void; onLeave: () => void };

/** Asks before something unsaved is lost. */
export function Ask({ question: { title, text, leave, stay }, onStay, onLeave }: AskProps): ReactNode {
  return (
    <Modal opened onClose={onStay} title={title} zIndex={300} size="sm" closeButtonProps={{ "aria-label": texts.dashboard.close }}>
      <p>{text}</p>
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" onClick={onLeave}>
          {leave}
        </Button>
        <Button onClick={onStay} data-autofocus>
          {stay}
        </Button>
      </Group>
    </Modal>
  );
}
