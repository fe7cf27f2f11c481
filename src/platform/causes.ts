/**
 * Separates the error that ended a scope from the errors that were then raised while its parts were closed, in order. `await using` wraps them in a
 * `SuppressedError`, whose message hides all of them.
 */
export function causeOf(error: unknown): { cause: unknown; closing: unknown[] } {
  const [cause, ...closing] = inOrder(error);
  return { cause, closing };
}

function inOrder(error: unknown): unknown[] {
  // The command line for services elsewhere also runs on Node 20, which has no SuppressedError.
  return typeof SuppressedError === "function" && error instanceof SuppressedError
    ? [...inOrder(error.suppressed), ...inOrder(error.error)]
    : [error];
}
