/** A paragraph about a subject, which it begins with in bold: `**Keys.** Send …` or `**Lists** are …`. */
export type Topic = { name: string; text: string };

/** Separates the introduction of a description into its paragraphs about subjects and the others. */
export function readIntroduction(introduction: string): { lead: string; topics: Topic[] } {
  const paragraphs = introduction.split("\n\n").map((text) => ({ text, topic: topicOf(text) }));
  return {
    lead: paragraphs.flatMap(({ text, topic }) => (topic ? [] : [text])).join("\n\n"),
    topics: paragraphs.flatMap(({ topic }) => topic ?? []),
  };
}

function topicOf(paragraph: string): Topic | undefined {
  const [opening, name = "", end] = /^\*\*([\w ]+)(\.?)\*\*/.exec(paragraph) ?? [];
  if (opening === undefined) return undefined;
  const rest = paragraph.slice(opening.length);
  return { name, text: end === "." ? rest.trim() : name + rest };
}
