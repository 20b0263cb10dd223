/** What of a question's outputs was on the screen, and what is said while it was not all of it. */
import type { Artifact } from '@/api/types';
import { fileName } from './artifacts';
import { many } from './figures';

/**
 * How far an output was seen. `whole`: every part of it was on the screen. `scroll`: a part of it was not. `folded`: lines of it are
 * folded. `raw`: the view leaves parts of it out that Raw shows. `elsewhere`: the console cannot show all of it.
 */
export type Sight = 'whole' | 'scroll' | 'folded' | 'raw' | 'elsewhere';

/** By the output's record; what is not here was not opened. */
export type Seen = Readonly<Record<string, Sight>>;

export type Output = Pick<Artifact, 'artifact_record_id' | 'artifact_name' | 'format'>;

export type Range = readonly [from: number, to: number];

/** Adds a range; ranges stay sorted and apart. */
export function cover(ranges: readonly Range[], [from, to]: Range): Range[] {
  if (to <= from) return [...ranges];
  const apart = ranges.filter((one) => one[1] < from || one[0] > to);
  const joined = ranges.filter((one) => one[1] >= from && one[0] <= to);
  const all: Range = [Math.min(from, ...joined.map((one) => one[0])), Math.max(to, ...joined.map((one) => one[1]))];
  return [...apart, all].sort((a, b) => a[0] - b[0]);
}

/** Browsers round what they lay out, by less than this many pixels. */
const ROUNDING = 3;

/** Whether ranges leave nothing out from 0 to `length`. */
export const covered = (ranges: readonly Range[], length: number): boolean => length <= ROUNDING || ranges.some(([from, to]) => from <= ROUNDING && to >= length - ROUNDING);

/** The farther of two sights: what was seen whole stays seen. */
export const farther = (before: Sight | undefined, now: Sight): Sight => (before === 'whole' ? before : now);

const WHY: Record<Exclude<Sight, 'whole'>, (file: string) => string> = {
  scroll: (file) => `Not all of ${file} has been on the screen: scroll through it.`,
  folded: (file) => `Lines of ${file} are folded: see all of it under Rendered or Raw.`,
  raw: (file) => `This view leaves out parts of ${file}: see all of it under Raw.`,
  elsewhere: (file) => `${file} cannot be shown here: download it, then confirm that you have seen it.`,
};

/** Under which name the edit of an output is seen: seeing the edit is not seeing what it replaces. */
export const editOf = (record: string) => `${record} edited`;

/** What was seen of that which would be approved: of an edited output, its edit. */
export function withEdits(seen: Seen, outputs: readonly Output[], edited: readonly string[]): Seen {
  const next: Record<string, Sight> = { ...seen };
  for (const one of outputs) {
    const sight = seen[editOf(one.artifact_record_id)];
    // A change inside of a text that was seen whole leaves nothing that was not.
    if (sight && edited.includes(one.artifact_name) && seen[one.artifact_record_id] !== 'whole') next[one.artifact_record_id] = sight;
  }
  return next;
}

/** What has not been seen yet, in one sentence; nothing when all of it was. */
export function unseen(outputs: readonly Output[], seen: Seen): string | undefined {
  const closed = outputs.filter((one) => seen[one.artifact_record_id] === undefined);
  const [first] = closed;
  if (first && outputs.length === 1) return `${fileName(first)} has not been on the screen yet.`;
  if (first) return `${closed.length} of ${outputs.length} outputs ${closed.length === 1 ? 'has' : 'have'} not been opened.`;
  for (const one of outputs) {
    const sight = seen[one.artifact_record_id];
    if (sight !== undefined && sight !== 'whole') return WHY[sight](fileName(one));
  }
  return undefined;
}

/** What an answer covers, and how much of that was seen. */
export function covers(outputs: readonly Output[], seen: Seen, edited: readonly string[] = []): string {
  const isWhole = (one: Output) => seen[one.artifact_record_id] === 'whole';
  const rest = outputs.filter((one) => !edited.includes(one.artifact_name));
  const much = (list: readonly Output[]) => (list.every(isWhole) ? (list.length === 1 ? 'seen whole' : 'all seen whole') : list.length === 1 ? 'not seen whole yet' : `${list.filter(isWhole).length} of them seen whole`);
  if (edited.length > 0) {
    const files = outputs.filter((one) => edited.includes(one.artifact_name)).map(fileName);
    const others = rest.length === 0 ? '' : `, and ${many(rest.length, 'output')} as shown, ${much(rest)}`;
    return `Approves your edit of ${files.join(' and ')}${others}; edited from`;
  }
  const [only] = outputs;
  if (!only) return 'Covers the question as it is asked here';
  return outputs.length === 1 ? `Covers ${fileName(only)}, ${much(outputs)}` : `Covers ${many(outputs.length, 'output')}, ${much(outputs)}`;
}
