import { Kbd, Modal } from "@mantine/core";
import { Fragment, type ReactNode } from "react";
import { shortcutsTexts as words } from "../texts/en-shortcuts.ts";
import { texts } from "../texts/texts.ts";
import { commandKey } from "./command-key.ts";
import { useFocusReturn } from "./focus.ts";
import styles from "./shortcuts.module.css";

/** Each shortcut with its alternatives; an alternative is the keys that are pressed together. */
type Shortcut = { does: string; by: string[][] };

const groups: { title: string; shortcuts: Shortcut[] }[] = [
  {
    title: words.everywhere,
    shortcuts: [
      { does: words.search, by: [[commandKey, "K"], ["/"]] },
      { does: words.shortcuts, by: [["?"]] },
    ],
  },
  {
    title: words.inSearch,
    shortcuts: [
      { does: words.choose, by: [["↑"], ["↓"]] },
      { does: words.open, by: [["Enter"]] },
    ],
  },
  { title: words.inDialogs, shortcuts: [{ does: words.close, by: [["Esc"]] }] },
  { title: words.inReference, shortcuts: [{ does: words.send, by: [[commandKey, "Enter"]] }] },
];

/** The keyboard shortcuts of the pages, in a dialog that is open while it is mounted. */
export function Shortcuts({ onClose }: { onClose: () => void }): ReactNode {
  useFocusReturn();
  return (
    <Modal opened onClose={onClose} title={words.title} closeButtonProps={{ "aria-label": texts.dashboard.close }}>
      {groups.map(({ title, shortcuts }) => (
        <section key={title} className={styles.group}>
          <h3 className={styles.title}>{title}</h3>
          <dl className={styles.list}>
            {shortcuts.map(({ does, by }) => (
              <Fragment key={does}>
                <dt>{does}</dt>
                <dd>
                  {by.map((keys, i) => (
                    <Fragment key={keys.join(" ")}>
                      {i > 0 && ` ${words.or} `}
                      {keys.map((key) => (
                        <Kbd key={key}>{key}</Kbd>
                      ))}
                    </Fragment>
                  ))}
                </dd>
              </Fragment>
            ))}
          </dl>
        </section>
      ))}
    </Modal>
  );
}
