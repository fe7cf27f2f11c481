export const domainsTexts = {
  title: "Domains",
  titleOf: (project: string) => `Domains of ${project}`,
  words: ["custom domain", "host names", "dns", "certificates", "redirects", "verify"],
  which: "Project",
  projectFirst: "Domains belong to a project. Create one first and deploy a folder to it; then its domains can be added.",
  lead: "Your own web addresses. Certificates are issued and renewed automatically.",
  add: "Add domain",
  list: "Domains",
  emptyTitle: "No domains yet",
  emptyText: "Enter a domain that you own. The page then shows the DNS record to create at your registrar; the rest is automatic.",

  planTitle: "Custom domains come with the Pro plan and above",
  planText:
    "Your project has an address on the platform. With Pro, Business or Enterprise it can also have your own domains, each with a certificate, and redirects between them. The operator of the service sets the plan.",
  yourPlan: (plan: string) => `Your account is on the ${plan} plan.`,
  suspendedTitle: "These domains are not served at present",
  suspendedText:
    "The account’s plan no longer includes custom domains, so visitors cannot open them. They are kept, and served again with their certificates as soon as the plan is Pro or above. You can still remove them.",
  deployTitle: "Deploy the project first",
  deployText: "A domain can be added when the project has a ready deployment, so that visitors never find an empty site.",
  toDeployments: "To its deployments",

  addTitle: "Add a domain",
  hostname: "Hostname",
  hostnameHint: "Such as www.example.com, or example.com. You need access to its DNS settings.",
  added: (name: string) => `${name} is added. Create its DNS record next.`,

  state: {
    suspended: "Not served",
    lost: "Taken over",
    pending: "Waiting for DNS",
    certificate: "Waiting for its certificate",
    certificateFailed: "Certificate delayed",
    failing: "DNS has changed",
    attention: "Needs attention",
    redirectWaits: "Redirect waits",
    active: "Active",
  },
  serving: {
    site: "Visitors see your site.",
    redirect: (to: string) => `Visitors are sent to ${to}.`,
    nothing: "Visitors cannot see your site here.",
  },
  primary: "Primary",
  primaryLater: "Becomes primary when it is ready",
  redirects: (to: string, status: number) => `Redirects to ${to} (${status})`,
  toRedirect: (to: string, status: number) => `Set to redirect to ${to} (${status})`,
  verify: "Verify",
  reVerify: "Re-verify",
  verifyOf: (name: string) => `Verify ${name}`,
  reVerifyOf: (name: string) => `Re-verify ${name}`,
  verifiedNow: (name: string) => `The DNS record of ${name} is correct.`,
  stillWrong: (name: string, message: string) => `${name} does not verify yet. ${message}`,
  validUntil: "Certificate valid until",
  details: "DNS record and history",

  record: {
    title: "Create this DNS record",
    titleMany: "Create these DNS records",
    needed: "The DNS record that is needed",
    shown: "Its DNS record",
    label: (type: string, name: string) => `${type} record for ${name}`,
    type: "Type",
    name: "Name",
    value: "Value",
    ttl: "TTL (seconds)",
    whole: (name: string) => `If the provider asks for the full name: ${name}`,
    typeOrAname: "Type (or ANAME)",
    copy: (what: string) => `Copy ${what}`,
    exact: "The value must match exactly. No other record may have this name: an A or AAAA record beside it makes verification fail.",
    apex: "The domain has no subdomain, so it takes an ALIAS record, which some providers call ANAME. Not every DNS provider supports them.",
    apexElse: (name: string) =>
      `If yours does not, add www.${name} instead, and forward ${name} to it with your provider’s web forwarding.`,
    winTitle: "If the domain is yours, create this DNS record",
    win: "It proves that you control the domain’s DNS settings. Once the record is there, add the domain again: it then moves to your project.",
    challenge: "Another account used this domain before. The TXT record proves that it is yours now.",
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
        "Look for a record type ALIAS, ANAME, or “CNAME flattening”. The name is @, or stays empty. Without such a type, add the www name here instead.",
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
    until: "Reserved for you, if the record is not found, until:",
    notChecked: "It was not found within 48 hours, so automatic checks have stopped. Verify checks it now.",
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
    title: "The certificate is more than 30 minutes late",
    passed: "Right",
    notPassed: "Wrong",
    unknown: "To do",
  },

  makePrimary: "Make primary",
  madePrimary: (name: string) => `${name} is the primary domain.`,
  endPrimary: "Stop being primary",
  endedPrimary: (name: string) => `${name} is not the primary domain any more.`,
  redirect: "Redirect to another domain",
  changeRedirect: "Change the redirect",
  endRedirect: "Stop redirecting",
  endedRedirect: (name: string) => `${name} has no redirect any more.`,
  redirectTitle: (name: string) => `Redirect ${name}`,
  redirectLead:
    "Visitors are sent to the same page at the other domain. The redirect starts when that domain is verified and has its certificate; until then visitors see your site.",
  to: "To",
  toHint: "A domain of this project that has no redirect.",
  noTargets: "This project has no other domain to redirect to. Add one first.",
  status: "Status",
  statuses: {
    301: "301 – permanent",
    302: "302 – temporary",
    307: "307 – temporary, method kept",
    308: "308 – permanent, method kept",
  },
  saveRedirect: "Save the redirect",
  redirected: (from: string, to: string) => `${from} redirects to ${to}.`,
  redirectLater: (from: string, to: string) => `${from} redirects to ${to} as soon as ${to} is ready.`,

  remove: "Remove",
  removeTitle: (name: string) => `Remove ${name}?`,
  removeText: (name: string) => `${name} stops working at once, also for visitors who have it open, and its certificate is not renewed.`,
  removeRedirects: "These domains redirect to it. From now on their visitors see your site instead:",
  removePrimary: (address: string) => `It is the primary domain. Your shop’s address changes to ${address}.`,
  freedRedirects: (names: string) => `These domains redirected to it; their visitors see your site now: ${names}.`,
  removed: (name: string) => `${name} is removed.`,
  removedTitle: (name: string) => `${name} is removed. One step is left`,
};
