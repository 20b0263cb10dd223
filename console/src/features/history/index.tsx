/** How a pipeline's definition changed: its revisions, and how two of them differ. */
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef } from 'react';
import { usePipeline, usePipelineDiff, usePipelineHistory } from '@/api/hooks/pipelines';
import type { Revision } from '@/api/types';
import { parseUnified } from '@/model/difference';
import { many } from '@/model/figures';
import { Avatar } from '@/ui/Avatar';
import { Tag } from '@/ui/Badge';
import { Button } from '@/ui/Button';
import { CopyAs } from '@/ui/CopyAs';
import { Diff } from '@/ui/Diff';
import { Select } from '@/ui/fields';
import { Page } from '@/ui/page';
import { RowBody } from '@/ui/Row';
import { useShortcut } from '@/ui/shortcuts';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { Time } from '@/ui/values';

export default function History() {
  const { pipelineId } = useParams({ from: '/shell/pipelines/$pipelineId/history' });
  const search = useSearch({ from: '/shell/pipelines/$pipelineId/history' });
  const navigate = useNavigate({ from: '/pipelines/$pipelineId/history' });
  const pipeline = usePipeline(pipelineId);
  const history = usePipelineHistory(pipelineId);
  const revisions = useMemo(() => history.data?.items ?? [], [history.data]);
  const at = Math.max(0, revisions.findIndex((one) => String(one.revision) === search.to));
  const to = revisions[at];
  const from = revisions.find((one) => String(one.revision) === search.from) ?? revisions[at + 1];
  const choose = (next: Revision | undefined) => next && void navigate({ search: { to: String(next.revision) }, replace: true });
  useShortcut(revisions.length > 0 ? 'j' : undefined, 'move', () => choose(revisions[at + 1]), { order: 10, repeats: true });
  useShortcut(revisions.length > 0 ? 'k' : undefined, 'move', () => choose(revisions[at - 1]), { order: 10, repeats: true });
  const name = pipeline.data?.pipeline_name ?? 'Pipeline';
  return (
    <Page
      title={`History of ${name}`}
      heading={
        <span className="flex min-w-0 items-center gap-2">
          <Link to="/pipelines/$pipelineId" params={{ pipelineId }} className="truncate rounded-1 text-body font-medium tracking-normal text-ink-3 max-tablet:hidden">
            {name} /
          </Link>
          History
        </span>
      }
      meta={history.data && many(revisions.length, 'revision')}
      actions={
        <>
          <CopyAs what={{ command: `holdpoint pipeline history ${JSON.stringify(name)}`, method: 'GET', path: `/api/pipelines/${pipelineId}/history` }} />
          <Button keys="e" word="edit" onClick={() => void navigate({ to: '/pipelines/$pipelineId/edit', params: { pipelineId } })}>
            Edit
          </Button>
        </>
      }
    >
      {history.error && <ErrorBlock title="The history could not be read" problem={history.error} className="m-5 max-w-[560px]" action={<Button size="small" onClick={() => void history.refetch()}>Try again</Button>} />}
      {history.isPending && <Loading label="Revisions" />}
      {history.data && revisions.length === 0 && <Empty title="No revisions yet">Every change of the definition stands here, with who made it and when.</Empty>}
      {revisions.length > 0 && (
        <div className="flex min-h-0 flex-1 flex-col desk:grid desk:grid-cols-[minmax(260px,380px)_minmax(0,1fr)] desk:grid-rows-[minmax(0,1fr)]">
          <nav aria-label="Revisions" className="scroll-pane min-h-0 border-line max-desk:max-h-[40%] max-desk:border-b desk:border-r">
            <ol>
              {revisions.map((one) => (
                <Entry key={one.revision} revision={one} selected={one === to} />
              ))}
            </ol>
          </nav>
          {to && <Between pipeline={pipelineId} from={from} to={to} revisions={revisions} onFrom={(next) => void navigate({ search: { to: String(to.revision), from: next }, replace: true })} />}
        </div>
      )}
    </Page>
  );
}

function Entry({ revision, selected }: { revision: Revision; selected: boolean }) {
  const row = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (selected) row.current?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    <li>
      <Link ref={row} from="/pipelines/$pipelineId/history" to="." search={{ to: String(revision.revision) }} replace aria-current={selected ? 'true' : undefined} className="block focus-visible:-outline-offset-2">
        <RowBody
          icon={<Avatar name={revision.actor.name} kind={revision.actor.kind} size={18} />}
          name={<span className="inline-block first-letter:uppercase">{revision.description}</span>}
          meta={revision.actor.name}
          right={<Time at={revision.timestamp} as="since" />}
          below={<span className="fact">definition {revision.pipeline_definition_version}</span>}
          selected={selected}
        />
      </Link>
    </li>
  );
}

function Between({ pipeline, from, to, revisions, onFrom }: { pipeline: string; from: Revision | undefined; to: Revision; revisions: readonly Revision[]; onFrom: (revision: string) => void }) {
  const older = revisions.filter((one) => one.revision !== to.revision);
  return (
    <section aria-label="What changed" className="flex min-h-0 flex-1 flex-col">
      <header className="flex min-h-11 flex-none flex-wrap items-center gap-2 border-b border-line px-5 py-1.5 max-tablet:px-4">
        <Tag>revision {to.revision}</Tag>
        {older.length > 0 && (
          <>
            <span className="text-ink-3">beside</span>
            <Select aria-label="The other revision" className="w-[240px]!" value={String(from?.revision ?? '')} onChange={(event) => onFrom(event.target.value)} options={older.map((one) => ({ value: String(one.revision), label: `Revision ${one.revision}, ${one.description}` }))} />
          </>
        )}
      </header>
      {from ? <Shown pipeline={pipeline} from={Math.min(from.revision, to.revision)} to={Math.max(from.revision, to.revision)} /> : <Empty title="The first revision">There is nothing before it to compare with.</Empty>}
    </section>
  );
}

function Shown({ pipeline, from, to }: { pipeline: string; from: number; to: number }) {
  const diff = usePipelineDiff(pipeline, from, to);
  const parsed = useMemo(() => (diff.data ? parseUnified(diff.data.diff) : undefined), [diff.data]);
  if (diff.error) return <ErrorBlock title="The revisions could not be compared" problem={diff.error} className="m-5 max-w-[560px]" />;
  if (!parsed) return <Loading label="What changed" rows={3} />;
  return (
    <div className="scroll-pane min-h-0 flex-1" tabIndex={0} role="region" aria-label={`From revision ${from} to ${to}`}>
      <p className="px-5 py-2 text-small text-ink-3 max-tablet:px-4">
        {many(parsed.added, 'line')} added, {parsed.removed} removed
      </p>
      {parsed.hunks.length === 0 ? <p className="px-5 py-2 text-ink-2 max-tablet:px-4">Both say the same. Changes that were saved together share one state.</p> : <Diff difference={parsed} label={`From revision ${from} to ${to}`} />}
    </div>
  );
}
