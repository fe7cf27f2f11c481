export const accountTexts = {
  page: "Account",
  lead: (name: string) => `${name}: its plan, who has access, and your own ways in.`,
  planTitle: "Plan",
  planLead: "All keys of the account share these limits. Higher ones come with a higher plan, which whoever runs the service sets.",
  plan: "Plan",
  perMinute: "Requests per minute",
  perDay: "Requests per day",
};
