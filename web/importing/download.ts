const keptMs = 60_000;

/** Downloads a file through the browser. */
export function download(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // the browser reads the URL after this task
  setTimeout(() => URL.revokeObjectURL(url), keptMs);
}
