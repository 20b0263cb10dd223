/** The beginning of the work that is asked about, with changes marked in place. */
import { useEffect, useRef, useState } from 'react';
import { fileName } from '@/model/artifacts';
import type { Block } from '@/model/excerpt';
import { shownAs } from '@/model/preview';
import { Keys } from '@/ui/Keys';
import { Icon } from '@/ui/Icon';
import { Seeing } from '@/ui/Seeing';
import { Tag } from '@/ui/Badge';
import { useWorkFont } from '@/ui/work';
import type { Work } from './useWork';

interface Props {
  work: Work;
  marks: boolean;
  onMarks: () => void;
}

/** As much of a text that is no prose as an excerpt holds. */
const MOST = 8000;

export function Excerpt({ work, marks, onMarks }: Props) {
  const { artifact, before, blocks, now, prose, content } = work;
  const pane = useRef<HTMLDivElement>(null);
  const [cut, setCut] = useState(false);
  useWorkFont(prose);
  useEffect(() => {
    const it = pane.current;
    if (!it) return;
    const look = () => setCut(it.scrollHeight > it.clientHeight + 1);
    const watch = new ResizeObserver(look);
    watch.observe(it);
    return () => watch.disconnect();
  }, [now, marks]);
  if (!artifact || now === undefined) return null;
  const isText = shownAs(artifact) !== 'picture' && !now.includes('\uFFFD') && !now.includes('\0');
  return (
    <Seeing content={content} record={artifact.artifact_record_id}>
      <section aria-label={fileName(artifact)} className="overflow-hidden rounded-3 border border-line bg-raised">
        <header className="flex h-[34px] items-center gap-2 border-b border-line px-3 text-small">
          <Icon name="file" size={14} className="text-ink-3" />
          <span className="min-w-0 truncate font-value">{fileName(artifact)}</span>
          <Tag>rev {artifact.revision_iteration + 1}</Tag>
          <span className="flex-1" />
          {before && (
            <button type="button" onClick={onMarks} aria-pressed={marks} className="inline-flex items-center gap-2 rounded-1 text-ink-3 hover:text-ink">
              {marks ? `diff to rev ${before.revision_iteration + 1}` : 'as it reads now'} <Keys keys="d" />
            </button>
          )}
        </header>
        <div ref={pane} data-content={isText && (blocks !== undefined || now.length <= MOST) ? 'whole' : 'raw'} className="max-h-[338px] overflow-hidden px-[22px] pt-[14px] pb-2 data-[cut=true]:[mask-image:linear-gradient(#000_78%,transparent)]" data-cut={cut}>
          {prose && blocks ? <Prose blocks={blocks} marks={marks} /> : <pre className="font-mono text-[12px] leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]">{now.slice(0, MOST)}</pre>}
        </div>
      </section>
    </Seeing>
  );
}

export function Prose({ blocks, marks }: { blocks: readonly Block[]; marks: boolean }) {
  return (
    <div className="work [overflow-wrap:anywhere]">
      {blocks.map((block, at) => {
        const text = block.pieces.map((piece, index) =>
          piece.mark === 'same' ? (
            <span key={index}>{piece.text}</span>
          ) : piece.mark === 'in' ? (
            marks ? (
              <ins key={index}>{piece.text}</ins>
            ) : (
              <span key={index}>{piece.text}</span>
            )
          ) : (
            marks && <del key={index}>{piece.text}</del>
          ),
        );
        if (!marks && block.pieces.every((piece) => piece.mark === 'out')) return null;
        if (block.kind === 'heading')
          return (
            <h3 key={at} className="mb-[5px] text-[18px] leading-[26px] tracking-[-0.01em]">
              {text}
            </h3>
          );
        if (block.kind === 'item')
          return (
            <p key={at} className="mb-1 flex gap-2">
              <span className="flex-none text-ink-3">{block.bullet}</span>
              <span className="min-w-0">{text}</span>
            </p>
          );
        return (
          <p key={at} className="mb-[9px]">
            {text}
          </p>
        );
      })}
    </div>
  );
}
