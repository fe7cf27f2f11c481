/** Formats a remaining time in ms as `4 s`, `2:05` or `13:04:09`; less than a second counts as none. */
export function durationText(ms: number): string | undefined {
  const left = Math.ceil(ms / 1_000);
  if (left <= 0) return undefined;
  if (left < 60) return `${left} s`;
  const [hours, minutes, rest] = [Math.floor(left / 3_600), Math.floor(left / 60) % 60, left % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
