/** The key that the shortcuts of this device begin with. */
export const commandKey = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘" : "Ctrl";
