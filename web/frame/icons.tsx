import type { ReactNode } from "react";

/** Creates an icon from a path on a grid of 20 by 20. Icons are decoration: the text beside each has its meaning. */
export function icon(path: ReactNode): () => ReactNode {
  return () => (
    <svg
      width="18"
      height="18"
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {path}
    </svg>
  );
}

export const SearchIcon = icon(<path d="M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12Zm4.5-1.500L17 17" />);
export const MoonIcon = icon(<path d="M16.5 11.500A7 7 0 0 1 8.5 3.500a7 7 0 1 0 8 8Z" />);
export const SunIcon = icon(
  <path d="M10 13.500a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM10 1.800v1.400m0 13.600v1.400M1.8 10h1.400m13.6 0h1.400M4.2 4.200l1 1m9.6 9.6 1 1m0-11.6-1 1m-9.6 9.6-1 1" />,
);
export const SystemIcon = icon(<path d="M3 4h14v9H3V4Zm5 12.500h4M10 13v3.500" />);
export const MenuIcon = icon(<path d="M3 5.500h14M3 10h14M3 14.500h14" />);
export const CopyIcon = icon(
  <path d="M7 7V4.500A1.5 1.5 0 0 1 8.5 3h7A1.5 1.5 0 0 1 17 4.500v7a1.5 1.5 0 0 1-1.5 1.500H13M4.5 7h7A1.5 1.5 0 0 1 13 8.500v7a1.5 1.5 0 0 1-1.5 1.500h-7A1.5 1.5 0 0 1 3 15.500v-7A1.5 1.5 0 0 1 4.5 7Z" />,
);
export const CheckIcon = icon(<path d="m4 10.5 4 4 8-9" />);
export const WarningIcon = icon(<path d="M10 3 2.500 16.500h15L10 3Zm0 5v4m0 2.200h.01" />);
export const DotsIcon = icon(<path d="M4.500 10h.01M10 10h.01M15.500 10h.01" strokeWidth="2.600" />);
export const GripIcon = icon(<path d="M7 5h.01M13 5h.01M7 10h.01M13 10h.01M7 15h.01M13 15h.01" strokeWidth="2.600" />);
export const PawIcon = (): ReactNode => (
  <svg width="22" height="22" viewBox="6 4 20 22" fill="currentColor" aria-hidden="true">
    <ellipse cx="9.3" cy="14" rx="2.4" ry="3.2" />
    <ellipse cx="13.7" cy="9.4" rx="2.4" ry="3.3" />
    <ellipse cx="18.3" cy="9.4" rx="2.4" ry="3.3" />
    <ellipse cx="22.7" cy="14" rx="2.4" ry="3.2" />
    <path d="M16 15c3.6 0 6.8 3.7 6.8 6.7 0 2-1.5 2.9-3.3 2.9-1.4 0-2.2-.6-3.5-.6s-2.1.6-3.5.6c-1.8 0-3.3-.9-3.3-2.9 0-3 3.2-6.7 6.8-6.700Z" />
  </svg>
);
