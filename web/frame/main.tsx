import { createContext, use, type ReactNode } from "react";

const InsideMain = createContext(false);

/** The content of a page, which a skip link leads to. Inside of another one it is a part of that: a page has one `main`. */
export function Main({ className, children }: { className: string | undefined; children: ReactNode }): ReactNode {
  if (use(InsideMain)) return <div className={className}>{children}</div>;
  return (
    <InsideMain value>
      <main id="content" className={className} tabIndex={-1}>
        {children}
      </main>
    </InsideMain>
  );
}
