import { createContext, use, type ReactNode } from "react";

const InsideMain = createContext(false);

/** The `main` element of a page, and the target of the skip link. A nested one renders a `div`, because a page has one `main`. */
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
