/** Asks for the password again; resolves to whether it was confirmed. */
type Prompt = () => Promise<boolean>;

let current: Prompt | undefined;
let asking: Promise<boolean> | undefined;

/** Sets the function that asks for the password. Returns a function that removes it. */
export function onConfirmationRequired(prompt: Prompt): () => void {
  current = prompt;
  return () => {
    if (current === prompt) current = undefined;
  };
}

/** Asks the person to confirm the password, once for all calls that wait for it. @returns false if the person cancels */
export async function confirmPassword(): Promise<boolean> {
  asking ??= (current?.() ?? Promise.resolve(false)).finally(() => {
    asking = undefined;
  });
  return asking;
}
