/** Reads a table from text: quoted cells, and the sign between cells that the first line uses most. */

export interface Table {
  head: string[];
  rows: string[][];
  /** How wide each column should be, in characters. */
  widths: number[];
}

const SIGNS = [',', ';', '\t', '|'];

/** Which sign stands between the cells, by the first line. */
function separator(text: string): string {
  const line = text.slice(0, text.search(/\r?\n|$/));
  const counts = SIGNS.map((sign) => line.split(sign).length);
  return SIGNS[counts.indexOf(Math.max(...counts))] ?? ',';
}

export function cells(text: string, sign = separator(text)): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] as string;
    if (quoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
    } else if (char === '"' && cell === '') quoted = true;
    else if (char === sign) {
      row.push(cell);
      cell = '';
    } else if (char === '\n' || (char === '\r' && text[at + 1] === '\n')) {
      if (char === '\r') at += 1;
      row.push(cell);
      rows.push(row);
      row = [];
      cell = '';
    } else cell += char;
  }
  if (cell !== '' || row.length > 0) rows.push([...row, cell]);
  return rows;
}

/** A table whose first line names its columns. */
export function table(text: string): Table {
  const [head = [], ...rows] = cells(text.replace(/^\uFEFF/, ''));
  const most = rows.slice(0, 1000).reduce((sum, row) => Math.max(sum, row.length), head.length);
  const widths = Array.from({ length: most }, (_, column) => {
    const longest = rows.slice(0, 200).reduce((sum, row) => Math.max(sum, row[column]?.length ?? 0), head[column]?.length ?? 0);
    return Math.min(Math.max(longest, 4), 48);
  });
  return { head: Array.from({ length: most }, (_, column) => head[column] ?? ''), rows, widths };
}

/** Whether a column holds figures, which stand at the right. */
export const isFigure = (text: string) => /^[+−-]?[\d,. ]+%?$/.test(text) && /\d/.test(text);
