export const requestLogTexts = {
  title: "Last requests",
  lead: "The requests of your programs in the past week, newest first, up to 5,000, without the values that they sent.",
  key: "Key",
  everyKey: "All keys",
  status: "Answer",
  everyStatus: "All answers",
  statuses: { "2xx": "2xx Done", "3xx": "3xx Unchanged", "4xx": "4xx Refused", "5xx": "5xx Failed" },
  when: "Time",
  request: "Request",
  noRoute: "Unknown path",
  none: "Nothing to show yet",
  noneText: "A request with one of your keys appears here a few seconds after its answer.",
};
