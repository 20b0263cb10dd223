/** The work that is decided about: its views, its changes, and comments on its lines. */
import { type RefObject, useCallback, useMemo, useRef, useState } from 'react';
import { downloadPath } from '@/api/hooks/artifacts';
import { useContent } from '@/api/hooks/content';
import type { Artifact, Execution } from '@/api/types';
import { fileName } from '@/model/artifacts';
import { type Difference, difference, type Line } from '@/model/difference';
import { bytes, many } from '@/model/figures';
import { isDrawn, isProse } from '@/model/preview';
import { type Asked, calledBefore } from '@/model/review';
import { editOf, type Seen } from '@/model/seen';
import { Button } from '@/ui/Button';
import { CodeView } from '@/ui/CodeView';
import { Diff } from '@/ui/Diff';
import { Icon } from '@/ui/Icon';
import { Menu } from '@/ui/overlays';
import { ArtifactContent } from '@/ui/preview';
import { see } from '@/ui/seen';
import { Seeing } from '@/ui/Seeing';
import { useShortcut } from '@/ui/shortcuts';
import { ErrorBlock, Loading } from '@/ui/states';
import { SegmentedControl } from '@/ui/Tabs';
import { useWorkFont } from '@/ui/work';
import { type Place, type Talk, Under } from './comments';
import { Lines, MOST_LINES } from './Lines';

export type View = 'rendered' | 'raw' | 'diff' | 'last';

interface Props {
  execution: Execution;
  outputs: readonly Artifact[];
  /** The question's content, which is watched until all of it was seen. */
  content: string | undefined;
  seen: Seen;
  artifact: Artifact;
  before: Artifact | undefined;
  last: Artifact | undefined;
  view: View | undefined;
  onView: (view: View) => void;
  onArtifact: (name: string) => void;
  talk: Talk;
  asked: readonly Asked[];
  me: string;
  /** Whether comments can be written: only where a revision can be asked for. */
  commentable: boolean;
  /** The text while it is edited. */
  edit?: { text: string | undefined; onChange: (text: string | undefined) => void } | undefined;
}

export function Work(props: Props) {
  const { execution, outputs, content, seen, artifact, before, last, view, onView, talk, edit } = props;
  const prose = isProse(artifact);
  const drawn = isDrawn(artifact);
  const now = useContent(artifact.artifact_record_id);
  const then = useContent(before?.artifact_record_id);
  const earlierRun = useContent(last?.artifact_record_id);
  const diffs = useDiffs(now.data?.text, then.data?.text, earlierRun.data?.text);
  useWorkFont(prose);
  const fallback: View = before && diffs.before ? 'diff' : drawn ? 'rendered' : 'raw';
  const shown: View = (view === 'diff' && !before) || (view === 'last' && !last) || (view === 'rendered' && !drawn) ? fallback : (view ?? fallback);
  const segments = [
    { value: 'rendered' as View, label: 'Rendered', keys: '1', on: drawn },
    { value: 'raw' as View, label: 'Raw', keys: '2', on: true },
    { value: 'diff' as View, label: before ? `Diff to ${calledBefore(before, artifact)}` : '', keys: '3', on: before !== undefined, count: counts(diffs.before) },
    { value: 'last' as View, label: last ? `Diff to v${last.run_version ?? ''}` : '', keys: '4', on: last !== undefined },
  ];
  const differs = shown === 'diff' ? diffs.before : shown === 'last' ? diffs.last : undefined;
  const pane = useRef<HTMLDivElement>(null);
  const { step, line, point } = useChanges(pane, differs);
  const open = edit === undefined;
  useShortcut(open && differs ? 'n' : undefined, 'next change', () => step(1), { order: 10, repeats: true });
  useShortcut(open && differs ? 'p' : undefined, 'next change', () => step(-1), { order: 10, repeats: true });
  const comment = () => {
    if (shown === 'rendered') onView('raw');
    const place = line.current ?? firstChanged(differs) ?? { sign: ' ' as const, line: 1, on: now.data?.text?.split('\n')[0] ?? '' };
    talk.setOpen(place);
  };
  useShortcut(open && props.commentable ? 'c' : undefined, 'comment on a line', comment, { order: 12 });
  return (
    <section aria-label={fileName(artifact)} className="flex min-h-0 min-w-0 flex-1 flex-col">
      <header className="flex min-h-11 flex-none flex-wrap items-center gap-x-2 gap-y-1 border-b border-line py-1.5 pr-5 pl-[21px] max-tablet:px-4">
        <Icon name="file" className="text-ink-3" />
        <span className="min-w-0 truncate font-name">{fileName(artifact)}</span>
        <span className="text-small whitespace-nowrap text-ink-3 max-tablet:hidden">
          {execution.max_revision_iterations > 0 ? `rev ${artifact.revision_iteration + 1} of at most ${execution.max_revision_iterations + 1}` : bytes(artifact.size_bytes)}
        </span>
        <span className="flex-1" />
        {edit ? (
          <span className="text-small text-ink-3">{edit.text === undefined ? 'Editing, nothing changed yet' : 'Edited, not sent yet'}</span>
        ) : (
          <SegmentedControl label="View" className="max-tablet:order-last" value={shown} segments={segments.filter((one) => one.on)} onChange={(next) => onView(next as View)} />
        )}
        {segments.map((one) => (
          <ViewKey key={one.value} keys={open && one.on ? one.keys : undefined} onPress={() => onView(one.value)} />
        ))}
        {outputs.length > 1 && (
          <Menu
            trigger={
              <Button size="small" className="tablet:h-[30px]!">
                {many(outputs.length, 'artifact')}
                <Icon name="down" size={14} />
              </Button>
            }
            items={outputs.map((one) => ({ label: seen[one.artifact_record_id] === 'whole' || content === undefined ? fileName(one) : `${fileName(one)}, not seen whole`, icon: 'file' as const, onSelect: () => props.onArtifact(one.artifact_name) }))}
          />
        )}
        <a href={downloadPath(artifact.artifact_record_id)} download={artifact.file_name} aria-label={`Download ${fileName(artifact)}`} title={`Download ${fileName(artifact)}`} className="grid size-[30px] flex-none place-items-center rounded-2 max-tablet:size-11 text-ink-2 hover:bg-hover hover:text-ink">
          <Icon name="download" />
        </a>
      </header>
      {content !== undefined && seen[artifact.artifact_record_id] === 'elsewhere' && <Elsewhere file={fileName(artifact)} onSeen={() => see(content, artifact.artifact_record_id, 'whole')} />}
      <div ref={pane} onPointerOver={(event) => point(event.target)} className="flex min-h-0 flex-1 flex-col">
        <Seeing content={content} record={edit?.text === undefined ? artifact.artifact_record_id : editOf(artifact.artifact_record_id)} className="flex min-h-0 flex-1 flex-col">
          {edit ? (
            now.data?.text === undefined ? (
              <Loading label={fileName(artifact)} rows={4} />
            ) : (
              <CodeView text={edit.text ?? now.data.text} format={artifact.format} label={`Edit ${fileName(artifact)}`} onChange={(text) => edit.onChange(text === now.data?.text ? undefined : text)} className="min-h-0 flex-1" />
            )
          ) : (
            <Shown {...props} shown={shown} differs={differs} prose={prose} text={now.data?.text} whole={now.data?.whole ?? true} problem={now.error ?? (shown === 'diff' ? then.error : shown === 'last' ? earlierRun.error : null)} />
          )}
        </Seeing>
      </div>
    </section>
  );
}

interface ShownProps extends Props {
  shown: View;
  differs: Difference | undefined;
  prose: boolean;
  text: string | undefined;
  whole: boolean;
  problem: unknown;
}

function Shown({ shown, differs, prose, text, whole, problem, artifact, talk, asked, me }: ShownProps) {
  if (problem) return <ErrorBlock title={`${fileName(artifact)} could not be read`} problem={problem} className="m-5" />;
  const file = fileName(artifact);
  const soFar = (line: number, sign: Place['sign']) =>
    // An earlier comment stands at the line that it was made on, which is a line of the revision before.
    asked.filter((one) => one.file === file && one.line === line && (shown === 'diff' ? one.revision === artifact.revision_iteration && sign !== '+' : false));
  if (differs)
    return (
      <div className="scroll-pane min-h-0 flex-1" tabIndex={0} role="region" aria-label={`Changes of ${file}`} data-content={isFolded(differs) ? 'folded' : 'whole'}>
        <Diff
          difference={differs}
          prose={prose}
          label={`Changes of ${file}`}
          under={(line) => <Under talk={talk} place={placeOf(line)} asked={line.before === undefined ? [] : soFar(line.before, line.sign)} me={me} />}
        />
      </div>
    );
  if (shown === 'raw' && text !== undefined && whole && text.split('\n').length <= MOST_LINES)
    return (
      <div className="scroll-pane min-h-0 flex-1" tabIndex={0} role="region" aria-label={`Text of ${file}`} data-content="whole">
        <Lines text={text} label={`Text of ${file}`} prose={prose} under={(line, on) => <Under talk={talk} place={{ sign: ' ', line, on }} asked={[]} me={me} />} />
      </div>
    );
  if (shown === 'diff' || shown === 'last') return <Loading label="Changes" rows={4} />;
  return <ArtifactContent artifact={artifact} view={shown} />;
}

/** What the console cannot show, a person has to look at elsewhere, and to say so. */
function Elsewhere({ file, onSeen }: { file: string; onSeen: () => void }) {
  return (
    <div className="flex flex-none flex-wrap items-center gap-3 border-b border-line bg-canvas px-5 py-1.5 text-small text-ink-2 max-tablet:px-4">
      <span className="min-w-0 flex-1">The console cannot show all of {file}: download it.</span>
      <Button size="small" onClick={onSeen}>
        I have seen all of it
      </Button>
    </div>
  );
}

function ViewKey({ keys, onPress }: { keys: string | undefined; onPress: () => void }) {
  useShortcut(keys, 'views', onPress, { order: 14 });
  return null;
}

const textOf = (line: Line) => line.pieces.map((piece) => piece.text).join('');
const placeOf = (line: Line): Place => ({ sign: line.sign, line: line.after ?? line.before ?? 1, on: textOf(line) });

/** Whether unchanged lines are left out. */
const isFolded = ({ hunks, rest }: Difference) => hunks.length === 0 || rest > 0 || hunks.some((one) => one.folded > 0);

function firstChanged(differs: Difference | undefined): Place | undefined {
  const lines = differs?.hunks.flatMap((hunk) => hunk.lines) ?? [];
  const first = lines.find((line) => line.sign === '+') ?? lines.find((line) => line.sign === '-');
  return first && placeOf(first);
}

function useDiffs(now: string | undefined, before: string | undefined, last: string | undefined) {
  const first = useMemo(() => (now === undefined || before === undefined ? undefined : difference(before, now)), [now, before]);
  const second = useMemo(() => (now === undefined || last === undefined ? undefined : difference(last, now)), [now, last]);
  return { before: first, last: second };
}

function counts(differs: Difference | undefined) {
  if (!differs) return undefined;
  return (
    <span className="whitespace-pre">
      <span className="text-done">+{differs.wordsAdded}</span> <span className="text-fail">−{differs.wordsRemoved}</span>
    </span>
  );
}

/** Walks from change to change, and knows the line that was pointed at last. */
function useChanges(pane: RefObject<HTMLDivElement | null>, differs: Difference | undefined) {
  const [at, setAt] = useState(-1);
  const line = useRef<Place>(undefined);
  const step = useCallback(
    (by: number) => {
      const total = differs?.hunks.length ?? 0;
      if (total === 0) return;
      const next = at < 0 ? (by > 0 ? 0 : total - 1) : (at + by + total) % total;
      setAt(next);
      const changed = differs?.hunks[next]?.lines.find((one) => one.sign !== ' ');
      line.current = changed && placeOf(changed);
      const heading = pane.current?.querySelector<HTMLElement>(`[data-change="${next}"]`);
      heading?.scrollIntoView({ block: 'start' });
      heading?.focus({ preventScroll: true });
    },
    [at, differs, pane],
  );
  /** The line under the pointer is the one that `c` is about. */
  const point = (target: EventTarget) => {
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-line]') : null;
    if (row) line.current = { sign: (row.dataset.sign ?? ' ') as Place['sign'], line: Number(row.dataset.line), on: (row.lastElementChild?.textContent ?? '').replace(/^(Added|Removed): /, '') };
  };
  return { step, line, point };
}
