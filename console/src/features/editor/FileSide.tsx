/** The same definition as a file, beside the form. Either can be written; the other follows. */
import { lazy, Suspense, useMemo, useState } from 'react';
import { loaded } from '@/api/loaded';
import type { Draft } from '@/model/definition';
import type { Fault } from '@/model/definition-faults';
import { changedLines, type FileFormat, lineOf, linesOf, read, textOf, type Unread } from '@/model/definition-file';
import { Copy } from '@/ui/CopyAs';
import { Icon } from '@/ui/Icon';
import { Loading } from '@/ui/states';
import { SegmentedControl } from '@/ui/Tabs';
import { Wrong } from './parts';

const FileEditor = lazy(loaded(() => import('./FileEditor')));

interface Props {
  draft: Draft;
  base: Draft;
  selected: string | undefined;
  /** The field that has the cursor. */
  focused: string | undefined;
  faults: readonly Fault[];
  off: boolean;
  onChange: (draft: Draft) => void;
  unread: Unread | undefined;
  onUnread: (unread: Unread | undefined) => void;
}

interface Typed {
  text: string;
  of: Draft;
  format: FileFormat;
  origin: Draft;
  session: number;
}

const fileName = (name: string) =>
  `${
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || 'pipeline'
  }`;

export function FileSide({ draft, base, selected, focused, faults, off, onChange, unread, onUnread }: Props) {
  const [format, setFormat] = useState<FileFormat>('yaml');
  // What was typed stands as it was typed for as long as it says what the draft says; it is read beside what stood
  // there when the typing began, so that a half-written name is no other checkpoint.
  const [typed, setTyped] = useState<Typed>();
  const told = useMemo(() => textOf(draft, format), [draft, format]);
  const saved = useMemo(() => textOf(base, format), [base, format]);
  const own = typed && typed.of === draft && typed.format === format ? typed.text : undefined;
  const text = own ?? told;
  const at = draft.parts.findIndex((part) => part.key === selected);
  const lines = useMemo(() => linesOf(text), [text]);
  const pointer = (fault: { key?: string | undefined; pointer: string }) => {
    const index = draft.parts.findIndex((part) => part.key === fault.key);
    return index < 0 ? fault.pointer : `/checkpoints/${index}${fault.pointer}`;
  };
  const spot = focused === undefined ? undefined : lineOf(lines, at < 0 ? focused : `/checkpoints/${at}${focused}`);
  const marks = (() => {
    const byLine = new Map<number, { line: number; kind: 'focus' | 'changed' | 'wrong'; message?: string }>();
    for (const line of changedLines(saved, text)) byLine.set(line, { line, kind: 'changed' });
    for (let line = spot?.from ?? 1; spot && line <= spot.to; line += 1) byLine.set(line, { line, kind: 'focus' });
    for (const fault of faults) {
      const line = lineOf(lines, pointer(fault))?.from;
      if (line) byLine.set(line, { line, kind: 'wrong', message: fault.message });
    }
    if (unread?.line) byLine.set(unread.line, { line: unread.line, kind: 'wrong', message: unread.message });
    return [...byLine.values()];
  })();
  const folds = draft.parts.flatMap((part, index) => {
    const found = lines.get(`/checkpoints/${index}`);
    return part.key !== selected && found && draft.parts.length > 1 ? [found] : [];
  });
  const change = (next: string) => {
    const origin = typed && own !== undefined ? typed.origin : draft;
    const session = typed && own !== undefined ? typed.session : (typed?.session ?? 0) + 1;
    const result = read(next, origin, (place) => `file-${session}-${place}`);
    if ('message' in result) {
      setTyped({ text: next, of: draft, format, origin, session });
      return onUnread(result);
    }
    setTyped({ text: next, of: result, format, origin, session });
    onUnread(undefined);
    onChange(result);
  };
  const line = spot?.from ?? (at < 0 ? undefined : lines.get(`/checkpoints/${at}`)?.from);
  return (
    <section aria-label="File" className="flex min-h-0 flex-1 flex-col bg-sunken">
      <header className="flex h-10 flex-none items-center gap-2 border-b border-line px-[14px] text-small">
        <Icon name="file" size={14} className="flex-none text-ink-3" />
        <span className="truncate font-value">
          {fileName(draft.name)}.{format}
        </span>
        <span className="truncate text-ink-3 max-huge:hidden">the same definition</span>
        <span className="flex-1" />
        <span className="flex flex-none items-center gap-2">
          <SegmentedControl label="Format of the file" value={format} onChange={(next) => (setFormat(next as FileFormat), onUnread(undefined))} segments={[{ value: 'yaml', label: 'YAML' }, { value: 'json', label: 'JSON' }]} />
          <Copy text={text} label="Copy the file" />
        </span>
      </header>
      <Suspense fallback={<Loading label="File" rows={0} />}>
        <FileEditor text={text} format={format} label="The definition as a file" onChange={off ? undefined : change} marks={marks} folds={folds} foldedFor={selected ?? ''} line={line} />
      </Suspense>
      {unread && (
        <div className="flex-none border-t border-line px-[14px] py-2">
          <Wrong>
            {unread.line ? `Line ${unread.line}: ` : ''}
            {unread.message}
          </Wrong>
        </div>
      )}
    </section>
  );
}
