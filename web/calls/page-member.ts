/**
 * The member whose data this page shows, or this page's worker reads. All tabs of a browser are signed in to the same account, and
 * another tab may switch it at any time, so each call names its member, and the service refuses it if another member is signed in
 * (docs/dashboard-api.md).
 */
let member: number | undefined;

export function pageMember(): number | undefined {
  return member;
}

/** Undefined while nobody is signed in. */
export function setPageMember(id: number | undefined): void {
  member = id;
}

/** The header with the member that a call is for; none while nobody is signed in. */
export function memberHeaders(): Record<string, string> {
  return member === undefined ? {} : { "dashboard-member": String(member) };
}
