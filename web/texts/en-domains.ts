export const domainsTexts = {
  title: "Domains",
  titleOf: (project: string) => `Domains of ${project}`,
  words: ["custom domain", "host names", "dns", "certificates", "redirects", "verify"],
  which: "Project",
  projectFirst: "Domains belong to a project. Create one first and deploy a folder to it; then its domains can be added.",
  lead: "Host names of your own, each with a certificate that is issued and renewed by itself.",
  add: "Add domain",
  list: "Domains",
  emptyTitle: "No domains yet",
  emptyText:
    "Enter a host name that you own. You are then shown the DNS record to create at your registrar, and everything else follows by itself.",

  planTitle: "Custom domains come with the Pro plan and above",
  planText:
    "The project is served at its address on the platform. With Pro, Business or Enterprise it can be served at host names of your own as well, each with a certificate and with redirects between them. Whoever runs the service sets the plan.",
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
  verifiedNow: (name: string) => `The DNS of ${name} is right.`,
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
    whole: (name: string) => `Where the provider asks for the whole name: ${name}`,
    typeOrAname: "Type (or ANAME)",
    copy: (what: string) => `Copy ${what}`,
    exact: "The value must match exactly. No other record may have this name: an A or AAAA record beside it makes verification fail.",
    apex: "The domain has no subdomain, so it takes an ALIAS record, which some providers call ANAME. Not every DNS provider supports them.",
    apexElse: (name: string) =>
      `Where yours does not, add www.${name} instead, and let ${name} lead there by your provider’s web forwarding.`,
    winTitle: "If the name is yours, create this DNS record",
    win: "It shows that the domain’s DNS settings are yours. With the record in place, add the name again: it then moves to your project.",
    challenge: "A name of this domain was in use by another account. The TXT record shows that it is yours now.",
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
        "Open Domain List, Manage, Advanced DNS, then Add New Record. Put the name into “Host”, without your domain, which is added by itself, and the value into “Value”.",
      "Amazon Route 53":
        "Open the hosted zone and choose Create record. Put the name into “Record name”; your domain stands behind it already. Put the value into “Value”, and leave “Alias” off.",
      "Another provider":
        "Look for DNS, DNS records or zone settings. The name is called host or record name as well; most providers add your domain to it by themselves. The value is called target, points to or data as well.",
    },
    apex: {
      Cloudflare:
        "Add a CNAME record with the name @ and the value as its target, with the proxy status “DNS only”. Cloudflare turns it into addresses by itself (CNAME flattening).",
      GoDaddy: "GoDaddy’s DNS has no ALIAS record. Add the www name here instead, and set up forwarding from the domain to it at GoDaddy.",
      Namecheap:
        "Open Domain List, Manage, Advanced DNS, then Add New Record. Choose ALIAS Record, with @ as “Host” and the value as “Value”.",
      "Amazon Route 53":
        "Route 53’s alias records lead to Amazon’s own services only. Add the www name here instead, and redirect the domain to it.",
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
    nextCheck: "Checked next by itself:",
    until: "Held for you, if it is not found, until:",
    notChecked: "It was not found within 48 hours and is not checked by itself any more. Verify checks it now.",
    lastRight: "Last found right:",
    stillServed: "The domain is still served, but its certificate is not renewed.",
    certificateLater: "Ordered by itself as soon as the DNS record is found.",
    certificateSoon: "Usually there within a couple of minutes. If it takes more than 30 minutes, this page says what to check.",
    retry: "Tried again:",
    noCertificates: "This service issues no certificates, so the domain is served over HTTP.",
    renewedBefore: "Valid, and renewed by itself before:",
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
    "Visitors are sent to the same page at the other name. The redirect starts when that name is verified and has its certificate; until then visitors see your site.",
  to: "To",
  toHint: "A domain of this project that does not redirect itself.",
  noTargets: "There is no other domain that this one could lead to. Add one first.",
  status: "Status",
  statuses: {
    301: "301 – permanent",
    302: "302 – for now",
    307: "307 – for now, method kept",
    308: "308 – permanent, method kept",
  },
  saveRedirect: "Save the redirect",
  redirected: (from: string, to: string) => `${from} redirects to ${to}.`,
  redirectLater: (from: string, to: string) => `${from} redirects to ${to} as soon as ${to} is ready.`,

  remove: "Remove",
  removeTitle: (name: string) => `Remove ${name}?`,
  removeText: (name: string) => `${name} stops being served at once, on open connections too, and its certificate is not renewed.`,
  removeRedirects: "These domains redirect to it. From now on their visitors see your site instead:",
  removePrimary: (address: string) => `It is the primary domain. Your shop’s address changes to ${address}.`,
  freedRedirects: (names: string) => `These domains redirected to it; their visitors see your site now: ${names}.`,
  removed: (name: string) => `${name} is removed.`,
  removedTitle: (name: string) => `${name} is removed: one thing is left to do`,
};
