import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ask, type CurrentUser } from "../../calls/members.ts";
import { Refusal } from "../../calls/refusal.ts";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { factorTexts } from "../../texts/en-factors.ts";

/** Signs in with a passkey, without a password or a code. Renders nothing where passkeys do not work, such as at an IP address. */
export function PasskeySignIn({ onSignedIn }: { onSignedIn: (user: CurrentUser) => void }): ReactNode {
  const { mutate, isPending, error } = useMutation({ mutationFn: signIn, onSuccess: onSignedIn });
  const isNamed = location.hostname === "localhost" || (location.protocol === "https:" && /[a-z]/i.test(location.hostname));
  if (!isNamed || !("PublicKeyCredential" in globalThis)) return null;
  return (
    <>
      {error && !(error instanceof Refusal) ? <p role="alert">{factorTexts.passkeyFailed}</p> : <ErrorPanel error={error} />}
      <Button mt="md" fullWidth variant="default" loading={isPending} onClick={() => mutate()}>
        {factorTexts.signInWithPasskey}
      </Button>
    </>
  );
}

async function signIn(): Promise<CurrentUser> {
  const { options } = await ask("POST /sign-in/passkey/options", { body: {} });
  const { startAuthentication } = await import("@simplewebauthn/browser");
  const { id, response } = await startAuthentication({ optionsJSON: JSON.parse(options) as never });
  const { clientDataJSON, authenticatorData, signature, userHandle = "" } = response;
  return ask("POST /sign-in/passkey", { body: { id, clientDataJSON, authenticatorData, signature, userHandle } });
}
