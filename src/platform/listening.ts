/**
 * What a server that could not listen failed with, as one line that names its settings; any other error as it is.
 *
 * @param setting the name of the port's setting, such as `PORT`
 */
export function listeningError(error: unknown, setting: string, { host, port }: { host: string; port: number }): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return new Error(`${setting}=${port} is taken on ${host}: set ${setting} to a free one`, { cause: error });
  if (syscall === "listen" || syscall === "getaddrinfo")
    return new Error(`HOST=${host} ${setting}=${port} cannot be listened on (${code})`, { cause: error });
  return error;
}
