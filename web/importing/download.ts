const keptMs = 60_000;

/** Hands a file to the browser's downloads. */
export function download(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // the browser reads it after this turn
  setTimeout(() => URL.revokeObjectURL(url), keptMs);
}
