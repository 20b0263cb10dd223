/** The file beside the form: a draft as text, a text as a draft, and which line a field stands on. */
import { diffArrays } from 'diff';
import { Document, isCollection, isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { type Draft, draftFrom, type Json, shown, step } from './definition';

export type FileFormat = 'yaml' | 'json';

export function textOf(draft: Draft, format: FileFormat): string {
  const plain = shown(draft);
  if (format === 'json') return `${JSON.stringify(plain, null, 2)}\n`;
  return new Document(plain).toString({ lineWidth: 0, indentSeq: true, nullStr: 'null' });
}

export interface Unread {
  message: string;
  line: number | undefined;
}

/** Reads a text. JSON is YAML, so one reader does for both. */
export function read(text: string, before: Draft, keyOf?: (place: number) => string): Draft | Unread {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error) return { message: `${error.message.replace(/\.$/, '')}.`, line: lines.linePos(error.pos[0]).line };
  let plain: Json;
  try {
    // A small file that grows without end when its references are followed is refused.
    plain = document.toJS({ maxAliasCount: 100 }) as Json;
  } catch (thrown) {
    return { message: thrown instanceof Error ? thrown.message : String(thrown), line: undefined };
  }
  const draft = draftFrom(plain, before, keyOf);
  return typeof draft === 'string' ? { message: draft, line: undefined } : draft;
}

export interface Lines {
  from: number;
  to: number;
}

/** The lines of every value, by its pointer. */
export function linesOf(text: string): Map<string, Lines> {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const found = new Map<string, Lines>();
  const line = (offset: number) => counter.linePos(offset).line;
  const end = (node: Node, from: number) => {
    const range = node.range;
    // The end of a value is the beginning of the next line.
    return range ? Math.max(from, line(Math.max(range[0], range[1] - 1))) : from;
  };
  const walk = (node: unknown, pointer: string) => {
    if (isMap(node)) {
      for (const pair of node.items) {
        if (!isPair(pair) || !isScalar(pair.key) || !pair.key.range) continue;
        const inner = `${pointer}/${step(String(pair.key.value))}`;
        const from = line(pair.key.range[0]);
        const value = pair.value as Node | null;
        found.set(inner, { from, to: value?.range ? end(value, from) : from });
        walk(value, inner);
      }
    } else if (isSeq(node)) {
      node.items.forEach((item, at) => {
        const inner = `${pointer}/${at}`;
        const range = (item as Node).range;
        if (range) {
          const from = line(range[0]);
          found.set(inner, { from, to: isCollection(item) ? end(item as Node, from) : from });
        }
        walk(item, inner);
      });
    }
  };
  walk(document.contents, '');
  return found;
}

/** The line of a pointer, or of the nearest thing around it that has one. */
export function lineOf(lines: Map<string, Lines>, pointer: string): Lines | undefined {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const found = lines.get(at);
    if (found) return at === pointer ? found : { from: found.from, to: found.from };
  }
  return undefined;
}

/** The lines of a text that another one does not have. */
export function changedLines(before: string, after: string): number[] {
  const lines: number[] = [];
  let at = 0;
  for (const part of diffArrays(before.split('\n'), after.split('\n'))) {
    if (part.removed) continue;
    if (part.added) lines.push(...part.value.map((_, offset) => at + offset + 1));
    at += part.value.length;
  }
  return lines;
}
