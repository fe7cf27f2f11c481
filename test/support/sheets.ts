import { rawZip, type RawZipEntry } from "./zip-bytes.ts";

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

export type Xlsx = { sheets: { name: string; state?: string; rows: string }[]; strings?: string; styles?: string; workbook?: string };

/** The parts of an .xlsx file, as Excel names them. */
export function xlsxParts({ sheets, strings, styles, workbook = "" }: Xlsx): RawZipEntry[] {
  const relation = (id: string, type: string, target: string) => `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`;
  const relations = (...all: string[]) =>
    `${head}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${all.join("")}</Relationships>`;
  const list = sheets.map(
    ({ name, state }, i) => `<sheet name="${name}" sheetId="${i + 1}"${state ? ` state="${state}"` : ""} r:id="rId${i + 1}"/>`,
  );
  return [
    { name: "[Content_Types].xml", content: `${head}<Types/>` },
    { name: "_rels/.rels", content: relations(relation("rId1", "officeDocument", "xl/workbook.xml")) },
    { name: "xl/workbook.xml", content: `${head}<workbook xmlns:r="${office}">${workbook}<sheets>${list.join("")}</sheets></workbook>` },
    {
      name: "xl/_rels/workbook.xml.rels",
      content: relations(
        ...sheets.map((_, i) => relation(`rId${i + 1}`, "worksheet", `worksheets/sheet${i + 1}.xml`)),
        ...(strings === undefined ? [] : [relation("rIdS", "sharedStrings", "/xl/sharedStrings.xml")]),
        ...(styles === undefined ? [] : [relation("rIdT", "styles", "styles.xml")]),
      ),
    },
    ...sheets.map(({ rows }, i) => ({
      name: `xl/worksheets/sheet${i + 1}.xml`,
      content: `${head}<worksheet><dimension ref="A1"/><sheetData>${rows}</sheetData></worksheet>`,
    })),
    ...(strings === undefined ? [] : [{ name: "xl/sharedStrings.xml", content: `${head}<sst>${strings}</sst>` }]),
    ...(styles === undefined ? [] : [{ name: "xl/styles.xml", content: `${head}<styleSheet>${styles}</styleSheet>` }]),
  ];
}

export const xlsx = (book: Xlsx): Buffer => rawZip(xlsxParts(book));

/** An .ods file as LibreOffice writes it; `tables` is what its spreadsheet has. */
export function ods(tables: string, styles = ""): Buffer {
  const content = `${head}<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x" xmlns:style="s"><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:spreadsheet>${tables}</office:spreadsheet></office:body></office:document-content>`;
  return rawZip([
    { name: "mimetype", content: "application/vnd.oasis.opendocument.spreadsheet", method: 0 },
    { name: "content.xml", content },
    { name: "META-INF/manifest.xml", content: `${head}<manifest/>` },
  ]);
}
