import { useElementSize } from "@mantine/hooks";
import { useLayoutEffect, useRef, type ReactNode } from "react";
import { shopTexts } from "../texts/en-shop.ts";
import styles from "./shop-frame.module.css";

/** How wide the shop's page is on a device (px). The frame is scaled down to the room that it has. */
const widths = { phone: 390, computer: 1200 };
type Device = keyof typeof widths;

/** The device that the window is as wide as. */
export const deviceHere = (): Device => (matchMedia("(max-width: 40em)").matches ? "phone" : "computer");

/**
 * A shop's page in a frame that runs no script. `allow-same-origin` without `allow-scripts` lets this page, and nothing in the frame, read how far it
 * is scrolled: a newer page is shown at the same place.
 */
export function ShopFrame({ html, device }: { html: string; device: Device }): ReactNode {
  const { ref, width: room, height } = useElementSize();
  const width = widths[device];
  const frame = useRef<HTMLIFrameElement>(null);
  const shown = useRef({ isLoaded: false, scrolled: 0 });
  const scale = room === 0 ? 1 : Math.min(1, room / width);
  useLayoutEffect(() => {
    const { isLoaded, scrolled } = shown.current;
    const element = frame.current!;
    shown.current = { isLoaded: false, scrolled: isLoaded ? element.contentWindow!.scrollY : scrolled };
    element.srcdoc = html;
  }, [html]);
  return (
    <div className={styles.window} ref={ref}>
      <iframe
        ref={frame}
        className={styles.frame}
        title={shopTexts.preview.frame}
        sandbox="allow-same-origin"
        style={{ width: `${width}px`, height: `${height / scale}px`, ...(scale < 1 && { transform: `scale(${scale})` }) }}
        onLoad={({ currentTarget }) => {
          currentTarget.contentWindow!.scrollTo({ top: shown.current.scrolled, behavior: "instant" });
          shown.current.isLoaded = true;
        }}
      />
    </div>
  );
}
