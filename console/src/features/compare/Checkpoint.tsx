/** One checkpoint on both sides: how it stands, what people decided, its definition, its artifacts. */
import { Link } from '@tanstack/react-router';
import clsx from 'clsx';
import { type ReactNode, useMemo } from 'react';
import { downloadPath, useArtifactText } from '@/api/hooks/artifacts';
import type { ArtifactComparison, Interaction, Usage } from '@/api/types';
import { type CheckpointComparison, differs, stepStatus } from '@/model/compare';
import { difference, parseUnified } from '@/model/difference';
import { bytes } from '@/model/figures';
import { took } from '@/model/time';
import { Tag } from '@/ui/Badge';
import { Icon, StatusLabel, StatusMark } from '@/ui/Icon';
import { Money, Time } from '@/ui/values';
import { useWorkFont } from '@/ui/work';
import { Texts } from './Texts';

export function Checkpoint({ it, first, beside }: { it: CheckpointComparison; first: boolean; beside: boolean }) {
  const name = it.checkpoint_name ?? `Checkpoint ${it.checkpoint_position + 1}`;
  const what = differs(it);
  return (
    <section aria-label={name} data-checkpoint={it.checkpoint_position} className={clsx('border-b border-line', first && 'border-l-[3px] border-l-ink')}>
      <h2 data-stop={what.length > 0 ? '' : undefined} tabIndex={-1} className="flex min-h-11 flex-wrap items-center gap-x-3 px-5 focus-visible:-outline-offset-2 max-tablet:px-4">
        <span className="fact text-ink-3">{it.checkpoint_position + 1}</span>
        {name}
        <span className="text-small font-body tracking-normal text-ink-3">{what.length > 0 ? `differs: ${what.join(', ')}` : 'the same'}</span>
        {first && <Tag>first difference</Tag>}
      </h2>
      <div className="grid grid-cols-2 divide-x divide-line border-t border-line">
        <Half status={it.status_a} usage={it.usage_a} seconds={it.seconds_a} decisions={it.decisions_a} />
        <Half status={it.status_b} usage={it.usage_b} seconds={it.seconds_b} decisions={it.decisions_b} />
      </div>
      {it.definition_diff && (
        <Part icon="edit" title="Definition">
          <Texts difference={parseUnified(it.definition_diff)} prose={false} beside={beside} label={`Changes of the definition of ${name}`} />
        </Part>
      )}
      {it.artifacts.map((artifact) => (
        <Artifact key={artifact.artifact_name} it={artifact} beside={beside} />
      ))}
    </section>
  );
}

function Half({ status, usage, seconds, decisions }: { status: string | null | undefined; usage: Usage | null | undefined; seconds: number | null | undefined; decisions: readonly Interaction[] }) {
  if (!status) return <div className="bg-canvas px-5 py-2 text-small text-ink-3 max-tablet:px-4">Not on this side.</div>;
  return (
    <div className="min-w-0 px-5 py-2 max-tablet:px-4">
      <p className="flex flex-wrap items-center gap-x-4 text-small">
        <StatusLabel status={stepStatus(status)} size={14} />
        {usage && <Money usd={usage.cost_usd} className="text-ink-3" />}
        {seconds != null && <span className="text-ink-3">{took(seconds * 1000)}</span>}
      </p>
      <ul>
        {decisions.map((one) => (
          <li key={one.interaction_id} className="flex items-baseline gap-2 text-small max-tablet:flex-col max-tablet:gap-0">
            <span className="font-value">{one.actor ?? 'somebody'}</span>
            <span className="min-w-0 [overflow-wrap:anywhere]">
              {WORDS[one.type] ?? one.type.replaceAll('_', ' ')}
              {one.user_input && one.user_input !== 'approved' && `: ${one.user_input}`}
            </span>
            <span className="flex-1" />
            <Time at={one.timestamp} as="moment" className="flex-none text-ink-3" />
          </li>
        ))}
      </ul>
    </div>
  );
}

const WORDS: Record<string, string> = { approval_to_start: 'approved the start', approval_to_complete: 'approved the result', revision_request: 'asked for a revision', input: 'gave input' };
const PROSE = new Set(['md', 'markdown', 'txt', 'text']);

function Artifact({ it, beside }: { it: ArtifactComparison; beside: boolean }) {
  const format = it.b?.format ?? it.a?.format ?? '';
  const prose = PROSE.has(format);
  useWorkFont(prose);
  // With both texts the changed words can be marked; the API's own diff stands until they have come.
  const before = useArtifactText(it.diff && it.a ? it.a.artifact_record_id : undefined);
  const after = useArtifactText(it.diff && it.b ? it.b.artifact_record_id : undefined);
  const found = useMemo(() => (before.data !== undefined && after.data !== undefined ? difference(before.data, after.data, 3) : it.diff ? parseUnified(it.diff) : undefined), [before.data, after.data, it.diff]);
  const only = it.change === 'only_a' ? it.a : it.change === 'only_b' ? it.b : undefined;
  return (
    <Part
      icon="file"
      title={it.artifact_name}
      tag={format}
      stop={it.change !== 'same' && !found}
      meta={
        it.change === 'same' ? (
          'the same'
        ) : only ? (
          `only on the ${it.change === 'only_a' ? 'left' : 'right'}`
        ) : (
          <>
            {found && (
              <>
                <span className="text-done">+{found.wordsAdded}</span> <span className="text-fail">−{found.wordsRemoved}</span> words
              </>
            )}
          </>
        )
      }
      end={[it.a, it.b].map(
        (one, at) =>
          one && (
            <a key={at} href={downloadPath(one.artifact_record_id)} download={one.file_name} className="inline-flex items-center gap-1 text-ink-2 hover:text-ink">
              <Icon name="download" size={14} /> {at === 0 ? 'left' : 'right'}, {bytes(one.size_bytes)}
            </a>
          ),
      )}
    >
      {it.change === 'changed' && found && <Texts difference={found} prose={prose} beside={beside} label={`Changes of ${it.artifact_name}`} />}
      {it.change === 'changed' && !found && (
        <p className="flex items-center gap-2 px-5 pb-2 text-small text-ink-2 max-tablet:px-4">
          <StatusMark icon="note" tone="ink-2" size={14} /> {it.no_diff ?? 'It changed, but there is no text to compare.'}
        </p>
      )}
      {only && (
        <p className="px-5 pb-2 text-small max-tablet:px-4">
          <Link to="/artifacts" search={{ artifact: only.artifact_record_id }} className="underline underline-offset-2">
            Open it
          </Link>
        </p>
      )}
    </Part>
  );
}

interface PartProps {
  icon: 'file' | 'edit';
  title: string;
  tag?: string;
  meta?: ReactNode;
  end?: ReactNode;
  /** A difference without hunks is a stop of its own. */
  stop?: boolean;
  children?: ReactNode;
}

function Part({ icon, title, tag, meta, end, stop = false, children }: PartProps) {
  return (
    <div className="border-t border-line">
      <h3 data-stop={stop ? '' : undefined} tabIndex={-1} className="focus-visible:-outline-offset-2 flex min-h-[34px] flex-wrap items-center gap-x-2 px-5 text-small font-value max-tablet:px-4">
        <Icon name={icon} size={14} className="text-ink-3" />
        {title}
        {tag && <Tag>{tag}</Tag>}
        <span className="font-body text-ink-3">{meta}</span>
        <span className="flex-1" />
        <span className="flex gap-4 font-body">{end}</span>
      </h3>
      {children}
    </div>
  );
}
