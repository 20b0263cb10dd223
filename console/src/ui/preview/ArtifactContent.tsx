/** The content of an output in one of its views. It fills its parent, which is a column with a height, and scrolls by itself. */
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { loaded } from '@/api/loaded';
import { type Content, useContent } from '@/api/hooks/content';
import { downloadPath } from '@/api/hooks/artifacts';
import { difference } from '@/model/difference';
import { bytes } from '@/model/figures';
import { type Json, parse } from '@/model/json-rows';
import { isProse, leavesOut, pictureType, shownAs, type Shows } from '@/model/preview';
import { CodeView } from '../CodeView';
import { Diff } from '../Diff';
import { Markdown } from '../Markdown';
import { ErrorBlock, Loading } from '../states';
import { Fact, Facts } from '../values';
import { useWorkFont } from '../work';
import { Fallback } from './Fallback';

const Diagram = lazy(loaded(() => import('./Diagram')));
const HtmlFrame = lazy(loaded(() => import('./HtmlFrame')));
const CsvTable = lazy(loaded(() => import('./CsvTable')));
const JsonTree = lazy(loaded(() => import('./JsonTree')));

export type View = 'rendered' | 'raw' | 'diff';

interface Props {
  artifact: Shows;
  view: View;
  /** What the diff starts from. */
  against?: Shows | undefined;
}

export function ArtifactContent({ artifact, view, against }: Props) {
  const content = useContent(artifact.artifact_record_id);
  const other = useContent(view === 'diff' ? against?.artifact_record_id : undefined);
  const failed = content.error ?? (view === 'diff' ? other.error : null);
  if (failed) return <ErrorBlock title={`${artifact.file_name} could not be read`} problem={failed} className="m-5" />;
  if (!content.data || (view === 'diff' && against && !other.data)) return <Loading label={artifact.file_name} rows={4} />;
  return (
    <div className="flex min-h-0 flex-1 flex-col" data-content={content.data.whole ? undefined : 'elsewhere'}>
      {!content.data.whole && <Cut artifact={artifact} content={content.data} />}
      <Suspense fallback={null}>
        <Fallback key={`${artifact.artifact_record_id} ${view}`} otherwise={(reason) => <Undrawn artifact={artifact} content={content.data} reason={reason} />}>
          {view === 'diff' && other.data ? <Difference artifact={artifact} now={content.data} then={other.data} /> : <One artifact={artifact} content={content.data} raw={view !== 'rendered'} />}
        </Fallback>
      </Suspense>
    </div>
  );
}

/** What could not be drawn, as it is written. */
function Undrawn({ artifact, content, reason }: { artifact: Shows; content: Content; reason: string }) {
  return (
    <>
      <p role="note" className="flex-none border-b border-line px-5 py-1.5 text-small text-ink-2">
        This could not be drawn: {reason}
      </p>
      {content.text === undefined ? <Binary artifact={artifact} /> : <Raw text={content.text} artifact={artifact} />}
    </>
  );
}

/** Says that this is the beginning, and how to get the rest. */
function Cut({ artifact, content }: { artifact: Shows; content: Content }) {
  return (
    <p role="note" className="flex-none border-b border-line bg-canvas px-5 py-1.5 text-small text-ink-2">
      This shows the first {bytes(content.bytes.length)} of {bytes(artifact.size_bytes)}.{' '}
      <a href={downloadPath(artifact.artifact_record_id)} download={artifact.file_name} className="underline underline-offset-2">
        Download all of it
      </a>
    </p>
  );
}

function One({ artifact, content, raw }: { artifact: Shows; content: Content; raw: boolean }) {
  const { text } = content;
  const shown = shownAs(artifact);
  const name = artifact.file_name;
  if (shown === 'picture' && !raw && content.whole) return <Still artifact={artifact} content={content} />;
  if (text === undefined) return <Binary artifact={artifact} />;
  if (raw) return <Raw text={text} artifact={artifact} />;
  switch (shown) {
    case 'markdown':
      return <Prose text={text} label={name} />;
    case 'mermaid':
      return <Diagram text={text} label={name} />;
    case 'csv':
      return <CsvTable text={text} label={name} />;
    case 'html':
      return <HtmlFrame text={text} label={name} />;
    case 'json':
      return <Tree text={text} artifact={artifact} />;
    default:
      return <Raw text={text} artifact={artifact} />;
  }
}

const Raw = ({ text, artifact }: { text: string; artifact: Shows }) => <CodeView text={text} format={artifact.format} label={artifact.file_name} className="min-h-0 flex-1" />;

/** Longer prose than this is drawn in part: laying out a book takes seconds. */
const PROSE = 200_000;

function Prose({ text, label }: { text: string; label: string }) {
  useWorkFont();
  const long = text.length > PROSE;
  return (
    <div className="scroll-pane min-h-0 flex-1 px-7 py-5 max-tablet:px-4" tabIndex={0} role="region" aria-label={label} data-content={long || leavesOut(text) ? 'raw' : 'whole'}>
      <Markdown text={long ? text.slice(0, text.lastIndexOf('\n', PROSE) + 1 || PROSE) : text} />
      {long && <p className="mt-4 text-small text-ink-3">The rest of it stands under Raw.</p>}
    </div>
  );
}

function Tree({ text, artifact }: { text: string; artifact: Shows }) {
  const read = useMemo<{ value: Json } | { reason: string }>(() => {
    try {
      return { value: parse(text) };
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error) };
    }
  }, [text]);
  if ('value' in read) return <JsonTree value={read.value} label={artifact.file_name} />;
  return (
    <>
      <p role="note" className="flex-none border-b border-line px-5 py-1.5 text-small text-ink-2">
        This is not JSON as it stands: {read.reason}
      </p>
      <Raw text={text} artifact={artifact} />
    </>
  );
}

/** A picture as an image, which runs and loads nothing even where it is SVG. */
function Still({ artifact, content }: { artifact: Shows; content: Content }) {
  const picture = useRef<HTMLImageElement>(null);
  const [broken, setBroken] = useState(false);
  useEffect(() => {
    const address = URL.createObjectURL(new Blob([content.bytes], { type: pictureType(artifact.format) }));
    if (picture.current) picture.current.src = address;
    return () => URL.revokeObjectURL(address);
  }, [content.bytes, artifact.format]);
  if (broken) return <Binary artifact={artifact} />;
  return (
    <div className="scroll-pane min-h-0 flex-1 p-5" tabIndex={0} role="region" aria-label={artifact.file_name} data-content="whole">
      <img ref={picture} alt={artifact.file_name} className="max-w-full" onError={() => setBroken(true)} />
    </div>
  );
}

function Binary({ artifact }: { artifact: Shows }) {
  return (
    <div className="p-5" data-content="elsewhere">
      <p className="mb-3 text-ink-2">This is no text, so it cannot be shown here.</p>
      <Facts>
        <Fact label="Format">{artifact.format || 'unknown'}</Fact>
        <Fact label="Size">{bytes(artifact.size_bytes)}</Fact>
        <Fact label="Checksum">
          <span className="fact [overflow-wrap:anywhere]">{artifact.checksum}</span>
        </Fact>
      </Facts>
      <p className="mt-3">
        <a href={downloadPath(artifact.artifact_record_id)} download={artifact.file_name} className="underline underline-offset-2">
          Download {artifact.file_name}
        </a>
      </p>
    </div>
  );
}

function Difference({ artifact, now, then }: { artifact: Shows; now: Content; then: Content }) {
  const prose = isProse(artifact);
  useWorkFont(prose);
  const differs = useMemo(() => (now.text === undefined || then.text === undefined ? undefined : difference(then.text, now.text)), [now.text, then.text]);
  if (!differs) return <Binary artifact={artifact} />;
  return (
    <div className="scroll-pane min-h-0 flex-1" tabIndex={0} role="region" aria-label={`${artifact.file_name}, changes`}>
      <Diff difference={differs} prose={prose} label={`Changes of ${artifact.file_name}`} />
    </div>
  );
}
