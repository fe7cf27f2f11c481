export const requestLogTexts = {
  title: "Last requests",
  lead: "What your programs asked for in the last 7 days, the newest first, up to 5,000 requests. Without the values that they sent.",
  key: "Key",
  everyKey: "Every key",
  status: "Answer",
  everyStatus: "Every answer",
  statuses: { "2xx": "2xx Done", "3xx": "3xx Not changed", "4xx": "4xx Refused", "5xx": "5xx Failed" },
  when: "Time",
  request: "Request",
  noRoute: "Unknown path",
  none: "Nothing to show yet",
  noneText: "A request with one of your keys appears here a few seconds after its answer.",
};
