import assert from "node:assert/strict";
import { test } from "node:test";
import { textMarkup } from "./markdown.ts";

const shown = (text: string): string =>
  textMarkup(text)
    .text.replaceAll(/>\s*\n\s*</g, "><")
    .replaceAll(/\s+/g, " ")
    .trim();

test("headings, paragraphs, lists, quotes, rules, marks and links become markup", () => {
  assert.equal(shown("# One\n### Two\ntext\nmore"), "<h2>One</h2><h3>Two</h3><p>text more</p>");
  assert.equal(shown("- a\n- b\n  goes on\n\n1. c\n2) d"), "<ul><li>a</li><li>b goes on</li></ul><ol><li>c</li><li>d</li></ol>");
  assert.equal(shown("> said\n> so\n\n---"), "<blockquote><p>said so</p></blockquote><hr />");
  assert.equal(
    shown("**big** *small* _too_ snake_case_name 2 * 3 * 4"),
    "<p><strong>big</strong> <em>small</em> <em>too</em> snake_case_name 2 * 3 * 4</p>",
  );
  assert.equal(shown("Linden Street 12  \n10115 Berlin"), "<p>Linden Street 12<br />10115 Berlin</p>");
  for (const link of ["https://example.com/a", "http://example.com/", "mailto:a@b.example", "tel:+4930123", "/pages/adoption"])
    assert.equal(shown(`see [this](${link})`), `<p>see <a href="${link}">this</a></p>`);
});

test("HTML and links to other addresses stay text", () => {
  assert.equal(shown("<b>x</b> <img src=x onerror=alert(1)>"), "<p>&#60;b&#62;x&#60;/b&#62; &#60;img src=x onerror=alert(1)&#62;</p>");
  for (const link of [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "//evil.example/",
    "https://user:secret@example.com/",
    "https://user@example.com/",
    "vbscript:x",
    'https://example.com/"onclick="x',
    "/\\evil.example",
    `https://example.com/${"x".repeat(500)}`,
  ]) {
    const text = shown(`[this](${link})`);
    assert.ok(!text.includes("<a ") || /href="https:\/\/example\.com\/%22onclick=%22x"/.test(text), text);
  }
});

test("a hostile text takes time in proportion to its length", () => {
  for (const piece of ["[", "*", "_", "[a](", "**a", "> ", "- ", "# ", "[]("]) {
    const text = piece.repeat(8_000 / piece.length);
    assert.ok(textMarkup(text).text.length < 40 * text.length, piece);
  }
});
