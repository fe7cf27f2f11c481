// Exports for other folders.
export {
  newAcmeOrder,
  openAccount,
  resumeLiveAcmeOrder,
  withPermit,
  type AcmeAccount,
  type AcmeChallenge,
  type AcmeOrder,
} from "./acme-client.ts";
export { completeAcmeOrder } from "./acme-order.ts";
export { AcmeProblem, NotPermitted } from "./acme-problem.ts";
export { closeAcmeSession, openAcmeSession, type AcmeSessionSettings } from "./acme-session.ts";
export { knowsRenewalInfo, renewalIdentifier, renewalInfoOf } from "./ari.ts";
export { tlsAlpnCertificate } from "./challenges.ts";
export { newPrivateKey } from "./csr.ts";
export type { IssuedCertificate } from "./issued.ts";
export type { ExternalAccount } from "./jws.ts";
