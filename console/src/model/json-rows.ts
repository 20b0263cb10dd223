/** JSON as rows that can be folded, with numbers as they were written. */

/** A number as it stands in the text: reading it as a number could change it. */
class Written {
  constructor(readonly text: string) {}
}

export type Json = null | boolean | string | number | Written | Json[] | { [name: string]: Json };

export interface JsonRow {
  /** Where it stands, as a JSON pointer. */
  path: string;
  depth: number;
  /** The name before the value; none inside lists. */
  name: string | undefined;
  /** `{`, `[`, `}`, `]`, or the value itself. */
  text: string;
  kind: 'open' | 'close' | 'leaf';
  folded: boolean;
  /** How many are inside, where something is. */
  inside: number;
  last: boolean;
}

/** Reads JSON; refuses with the parser's reason. */
export function parse(text: string): Json {
  // The third argument, with what was written, is newer than the types.
  const revive = (_: string, value: Json, context?: { source?: string }) => (typeof value === 'number' && context?.source !== undefined ? new Written(context.source) : value);
  return JSON.parse(text, revive as (name: string, value: unknown) => unknown) as Json;
}

const step = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** The rows that are seen while `folded` are closed. */
export function rows(value: Json, folded: ReadonlySet<string>): JsonRow[] {
  const all: JsonRow[] = [];
  const walk = (it: Json, path: string, depth: number, name: string | undefined, last: boolean) => {
    const list = Array.isArray(it);
    if (it === null || typeof it !== 'object' || it instanceof Written) {
      all.push({ path, depth, name, text: it instanceof Written ? it.text : JSON.stringify(it), kind: 'leaf', folded: false, inside: 0, last });
      return;
    }
    const parts: [string, Json][] = list ? it.map((one, at) => [String(at), one]) : Object.entries(it);
    const [open, close] = list ? ['[', ']'] : ['{', '}'];
    if (parts.length === 0 || folded.has(path)) {
      all.push({ path, depth, name, text: parts.length === 0 ? open + close : open, kind: parts.length === 0 ? 'leaf' : 'open', folded: parts.length > 0, inside: parts.length, last });
      return;
    }
    all.push({ path, depth, name, text: open, kind: 'open', folded: false, inside: parts.length, last: false });
    parts.forEach(([key, one], at) => walk(one, `${path}/${step(key)}`, depth + 1, list ? undefined : key, at === parts.length - 1));
    all.push({ path, depth, name: undefined, text: close, kind: 'close', folded: false, inside: 0, last });
  };
  walk(value, '', 0, undefined, true);
  return all;
}

/** Whether a row holds what is looked for. */
export const holds = (row: JsonRow, wanted: string) => row.kind !== 'close' && `${row.name ?? ''} ${row.kind === 'leaf' ? row.text : ''}`.toLowerCase().includes(wanted.toLowerCase());
