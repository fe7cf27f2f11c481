/** The pages of domains; only they load these texts. */
export const domainsTexts = {
  title: "Domains",
  titleOf: (project: string) => `Domains of ${project}`,
  which: "Project",
  projectFirst: "Domains belong to a project. Create one and publish your shop there first; then add its domains.",
  lead: "Your own web addresses. Secure connections (https://) are set up and renewed automatically.",
  add: "Add domain",
  list: "Domains",
  emptyTitle: "No domains yet",
  emptyText: "Enter a domain that you own. The page then shows the DNS record to create at your registrar; the rest is automatic.",

  planTitle: "Custom domains come with the Pro plan and above",
  planText:
    "Your project has an address from this service. With Pro, Business or Enterprise it can also have your own domains, each with secure connections (https://). The operator of this service sets the plan.",
  yourPlan: (plan: string) => `Your account is on the ${plan} plan.`,
  suspendedTitle: "Visitors cannot open these domains now",
  suspendedText:
    "Your plan no longer includes custom domains. They are kept, and work again as soon as the plan is Pro or above. You can still remove them.",
  deployTitle: "Publish something first",
  deployText: "You can add a domain once the project has a ready version, so that visitors never find an empty site.",
  toProject: "Go to the project",

  addTitle: "Add a domain",
  hostname: "Domain name",
  hostnameHint: "Such as www.example.com, or example.com. You need access to its DNS settings.",
  withPartner: (name: string) => `Also add ${name}`,
  partnerWww: "Its visitors are sent to the name above. It needs its own DNS record.",
  partnerApex: "Its visitors are sent to the name above. It needs an ALIAS record, which not every DNS provider supports.",
  addedBoth: (name: string, other: string) => `${name} and ${other} are added. Create their DNS records next.`,
  partnerFailed: (name: string, reason: string) => `${name} could not be added and redirected. ${reason}`,
  added: (name: string) => `${name} is added. Create its DNS record next.`,

  state: {
    suspended: "Not served",
    lost: "Taken over",
    pending: "Waiting for DNS",
    certificate: "Waiting for its certificate",
    certificateFailed: "Certificate delayed",
    failing: "DNS has changed",
    attention: "Needs attention",
    redirectWaits: "Redirect waiting",
    active: "Active",
  },
  serving: {
    site: "Visitors see your site.",
    redirect: (to: string) => `Visitors are sent to ${to}.`,
    nothing: "Visitors cannot see your site here.",
  },
  primary: "Main domain",
  primaryLater: "Becomes the main domain when it is ready",
  redirects: (to: string, status: number) => `Redirects to ${to} (${status})`,
  toRedirect: (to: string, status: number) => `Set to redirect to ${to} (${status})`,
  verify: "Verify",
  reVerify: "Re-verify",
  verifyOf: (name: string) => `Verify ${name}`,
  reVerifyOf: (name: string) => `Re-verify ${name}`,
  verifiedNow: (name: string) => `The DNS record of ${name} is correct.`,
  stillWrong: (name: string, message: string) => `${name} is not verified yet. ${message}`,
  validUntil: "Certificate valid until",
  details: "DNS record and history",

  record: {
    title: "Create this DNS record",
    titleMany: "Create these DNS records",
    needed: "The DNS record that this domain needs",
    shown: "Its DNS record",
    label: (type: string, name: string) => `${type} record for ${name}`,
    type: "Type",
    name: "Name",
    value: "Value",
    ttl: "TTL (seconds)",
    fullName: (name: string) => `If the provider asks for the full name: ${name}`,
    typeOrAname: "Type (or ANAME)",
    copy: (what: string) => `Copy ${what}`,
    exact: "The value must match exactly. No other record may have this name: with an A or AAAA record, verification fails.",
    apex: "A domain without a subdomain needs an ALIAS record, which some providers call ANAME. Not every DNS provider supports it.",
    apexElse: (name: string) =>
      `If yours does not, add www.${name} instead, and forward ${name} to it with your provider’s web forwarding.`,
    proofTitle: "If the domain is yours, create this DNS record",
    proof:
      "It proves that you control the domain’s DNS settings. Once the record is there, add the domain again: it then moves to your project.",
    proofToo: "Another account used this domain before. The TXT record proves that it is yours now.",
  },

  link: {
    lead: "Does somebody else look after the domain’s DNS? Send them a link: it shows only the records to create, and whether they are right.",
    make: "Make a link",
    makeOf: (name: string) => `Make a link to the records of ${name}`,
    label: "Link to share",
    until: "It works without signing in, until:",
    end: "End the link",
    endOf: (name: string) => `End the link to the records of ${name}`,
    ended: (name: string) => `No link to the records of ${name} works any more.`,
  },

  registrars: {
    title: "Where to enter it at your registrar",
    label: "DNS provider",
    subdomain: {
      Cloudflare:
        "Open the domain, then DNS, Records, Add record. Enter the name and put the value into “Target”. Set the proxy status to “DNS only”: behind the proxy the record cannot be seen.",
      GoDaddy:
        "Open the domain’s DNS settings and choose Add New Record. Choose the type, enter the name as shown, without your domain, and put the value into “Value”.",
      Namecheap:
        "Open Domain List, Manage, Advanced DNS, then Add New Record. Put the name into “Host”, without your domain, which Namecheap adds, and the value into “Value”.",
      "Amazon Route 53":
        "Open the hosted zone and choose Create record. Put the name into “Record name”; your domain already follows it. Put the value into “Value”, and leave “Alias” off.",
      "Another provider":
        "Look for DNS, DNS records or zone settings. The name is also called host or record name; most providers add your domain to it. The value is also called target, points to or data.",
    },
    apex: {
      Cloudflare:
        "Add a CNAME record with the name @ and the value as its target, with the proxy status “DNS only”. Cloudflare turns it into addresses for you (CNAME flattening).",
      GoDaddy: "GoDaddy’s DNS has no ALIAS record. Add the www name here instead, and set up forwarding from the domain to it at GoDaddy.",
      Namecheap:
        "Open Domain List, Manage, Advanced DNS, then Add New Record. Choose ALIAS Record, with @ as “Host” and the value as “Value”.",
      "Amazon Route 53":
        "Route 53’s alias records can only point to Amazon’s own services. Add the www name here instead, and redirect the domain to it.",
      "Another provider":
        "Look for a record type ALIAS or ANAME, or for “CNAME flattening”. Enter @ as the name, or leave it empty. If there is none of these, add the www name here instead.",
    },
  },

  problems: {
    title: "What is wrong",
    expected: "Expected",
    found: "Found",
    fix: "What to do",
  },

  steps: {
    title: "Progress",
    added: "Added",
    dns: "DNS record found",
    certificate: "Certificate issued",
    done: "done",
    current: "now",
    ahead: "to come",
    trouble: "needs attention",
    dnsWait: "DNS changes can take up to 48 hours to be seen everywhere.",
    nextCheck: "Next automatic check:",
    until: "If the record is not found, the domain stays reserved for you until:",
    notChecked: "The record was not found within 48 hours, so automatic checks have stopped. Choose Verify to check now.",
    lastRight: "Last found correct:",
    stillServed: "The domain is still served, but its certificate is not renewed.",
    certificateLater: "Ordered automatically as soon as the DNS record is found.",
    certificateSoon: "Usually ready within a couple of minutes. If it takes more than 30 minutes, this page says what to check.",
    retry: "Next try:",
    noCertificates: "This service issues no certificates, so the domain is served over HTTP.",
    renewedBefore: "Valid, and renewed automatically before:",
    validOnlyUntil: "Valid until:",
  },

  attention: {
    title: "There is no valid certificate",
    passed: "Right",
    notPassed: "Wrong",
    unknown: "To do",
  },

  makePrimary: "Make it the main domain",
  madePrimary: (name: string) => `${name} is the main domain.`,
  endPrimary: "Stop using it as the main domain",
  endedPrimary: (name: string) => `${name} is no longer the main domain.`,
  redirect: "Redirect to another domain",
  changeRedirect: "Change the redirect",
  endRedirect: "Stop redirecting",
  endedRedirect: (name: string) => `${name} no longer redirects.`,
  redirectTitle: (name: string) => `Redirect ${name}`,
  redirectLead:
    "Visitors are sent to the same page at the other domain. The redirect starts when that domain is verified and has its certificate; until then visitors see your site.",
  to: "To",
  toHint: "A domain of this project that has no redirect.",
  noTargets: "This project has no other domain to redirect to. Add one first.",
  status: "How long",
  statuses: {
    301: "Permanent (301)",
    302: "Temporary (302)",
    307: "Temporary, also for forms (307)",
    308: "Permanent, also for forms (308)",
  },
  saveRedirect: "Save the redirect",
  redirected: (from: string, to: string) => `${from} redirects to ${to}.`,
  redirectLater: (from: string, to: string) => `${from} redirects to ${to} as soon as ${to} is ready.`,

  remove: "Remove",
  removeTitle: (name: string) => `Remove ${name}?`,
  removeText: (name: string) => `${name} stops working at once, even for visitors who have it open, and its certificate is not renewed.`,
  removeRedirects: "These domains redirect to it. After the removal they show your site instead:",
  removePrimary: (address: string) => `It is the main domain. Your shop’s address changes to ${address}.`,
  freedRedirects: (names: string) => `These domains redirected to it, and now show your site instead: ${names}.`,
  removed: (name: string) => `${name} is removed.`,
  removedTitle: (name: string) => `${name} is removed. One step is left`,
};
