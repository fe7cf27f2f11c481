import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Waiting } from "../frame/waiting.tsx";
import styles from "./factors.module.css";

/** The width, in modules, of the white border that scanners need (ISO 18004). */
const border = 4;

/** A QR code, drawn in the browser, so that its secret text is sent nowhere. */
export function QrCode({ text, label }: { text: string; label: string }): ReactNode {
  const { data: encode } = useQuery({
    queryKey: ["qr"],
    queryFn: async () => (await import("qr")).default,
    staleTime: Infinity,
  });
  if (!encode) return <Waiting lines={6} />;
  const rows = encode(text, "raw", { ecc: "medium", border });
  const path = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ""))).join("");
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- drawn here, so that the text is in no URL of an image
    <svg className={styles.qr} role="img" aria-label={label} viewBox={`0 0 ${rows.length} ${rows.length}`} shapeRendering="crispEdges">
      <rect width="100%" height="100%" fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
