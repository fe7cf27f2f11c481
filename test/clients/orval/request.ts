let key = process.env.API_KEY;

export function useKey(other: string | undefined): void {
  key = other;
}

/** Sends the requests of the generated functions. */
export async function request<T>(path: string, init: RequestInit): Promise<T> {
  const headers = new Headers(init.headers);
  headers.set("Authorization", `Bearer ${key}`);
  const response = await fetch(`${process.env.BASE_URL}${path}`, { ...init, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, data: text ? JSON.parse(text) : undefined } as T;
}
