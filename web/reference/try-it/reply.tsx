import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { CodeBlock } from "../../frame/code-block.tsx";
import { tryItTexts } from "../../texts/en-reference.ts";
import { formatTime } from "../../texts/texts.ts";
import type { Operation } from "../description.ts";
import styles from "./panel.module.css";
import { curlOf, isJson, type Request } from "./request.ts";
import { bytesMax, timeoutMs, type Reply } from "./send.ts";

/** A response: its status, time and size, the limits, its body and headers. */
export function ReplyView({ reply, operation }: { reply: Reply; operation: Operation }): ReactNode {
  const named = withDeclaredNames(reply.headers, operation);
  return (
    <div className={styles.reply}>
      <h3>{tryItTexts.answer}</h3>
      <p className={styles.summary}>
        <span className={reply.status < 400 ? styles.good : styles.bad}>
          {reply.status} {reply.statusText}
        </span>
        <span>{tryItTexts.took(reply.ms)}</span>
        <span>{tryItTexts.bytes(reply.bytes)}</span>
      </p>
      <Limits headers={new Headers(reply.headers)} />
      <Tabs defaultValue="body" keepMounted={false}>
        <Tabs.List aria-label={tryItTexts.answer}>
          <Tabs.Tab value="body">{tryItTexts.answerBody}</Tabs.Tab>
          <Tabs.Tab value="headers">{tryItTexts.headers(named.length)}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="body" pt="xs">
          <Body reply={reply} />
        </Tabs.Panel>
        <Tabs.Panel value="headers" pt="xs">
          <HeaderTable headers={named} />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}

function Body({ reply: { headers, body, isCut } }: { reply: Reply }): ReactNode {
  if (body === "") return <p className={styles.limits}>{tryItTexts.empty}</p>;
  const type = new Headers(headers).get("content-type")?.split(";")[0] ?? "";
  return (
    <>
      {isCut && <p className={styles.limits}>{tryItTexts.cut(tryItTexts.bytes(bytesMax))}</p>}
      <CodeBlock code={isJson(type) ? indented(body) : body} language={isJson(type) ? "json" : "text"} label={tryItTexts.answerBody} />
    </>
  );
}

/** The limits as text; the table has all headers too. */
function Limits({ headers }: { headers: Headers }): ReactNode {
  const number = (name: string): number => Number(headers.get(name) ?? Number.NaN);
  const [limit, remaining, reset, retryAfter] = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"].map(
    number,
  );
  if (limit === undefined || remaining === undefined || reset === undefined || Number.isNaN(limit)) return null;
  return (
    <p className={styles.limits}>
      {tryItTexts.left(remaining, limit)}, {tryItTexts.resets(formatTime(new Date(reset * 1_000)))}
      {retryAfter !== undefined && !Number.isNaN(retryAfter) && (
        <>
          <br />
          <strong>{tryItTexts.retryAfter(retryAfter)}</strong>
        </>
      )}
    </p>
  );
}

function HeaderTable({ headers }: { headers: Reply["headers"] }): ReactNode {
  return (
    <table className={styles.headers}>
      <tbody>
        {headers.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The reason why there was no response. */
export function Failure({ error }: { error: Error }): ReactNode {
  const text =
    error.name === "TimeoutError"
      ? tryItTexts.timedOut(timeoutMs / 1_000)
      : error.name === "AbortError"
        ? tryItTexts.cancelled
        : tryItTexts.failedText;
  return (
    <div className={styles.reply}>
      <h3>{tryItTexts.failed}</h3>
      <p className={styles.limits}>{text}</p>
    </div>
  );
}

export function Curl({ request }: { request: Request }): ReactNode {
  return (
    <div className={styles.curl}>
      <h3>{tryItTexts.curl}</h3>
      <CodeBlock code={curlOf(request)} language="bash" label={tryItTexts.curl} />
    </div>
  );
}

/** Browsers report header names in lower case; declared headers are shown as the description writes them. */
function withDeclaredNames(headers: Reply["headers"], { answers, errors }: Operation): Reply["headers"] {
  const declared = new Map(
    [...answers, ...errors].flatMap((answer) => Object.keys(answer.headers)).map((name) => [name.toLowerCase(), name]),
  );
  return headers.map(([name, value]) => [declared.get(name) ?? name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()), value]);
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}
