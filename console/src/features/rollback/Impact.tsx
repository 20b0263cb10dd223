/** What the chosen point would archive, keep and cost again; then the reason and the act. */
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useRollBack, useRollbackPreview } from '@/api/hooks/rollback';
import { useMe } from '@/api/hooks/session';
import type { Execution, Rollback } from '@/api/types';
import { bytes, many, names as joined } from '@/model/figures';
import { archived, type Chosen, command, lasting, type Version, wanted } from '@/model/rollback';
import { hasRole, isMine } from '@/model/rights';
import { execution as executionStatus, type StatusIcon } from '@/model/status';
import { took } from '@/model/time';
import { Button } from '@/ui/Button';
import { CopyAs } from '@/ui/CopyAs';
import { Field, Input } from '@/ui/fields';
import { useOffline } from '@/ui/HintBar';
import { StatusLabel, StatusMark } from '@/ui/Icon';
import { ErrorBlock, Loading } from '@/ui/states';
import { SegmentedControl } from '@/ui/Tabs';
import { Money } from '@/ui/values';

interface Props {
  rows: readonly Version[];
  chosen: Chosen;
  /** Whether every later run goes as well. */
  all: boolean;
  onAll: (all: boolean) => void;
  byId: ReadonlyMap<string, Execution>;
  onDone: (done: Rollback) => void;
}

export function Impact({ rows, chosen, all, onAll, byId, onDone }: Props) {
  const navigate = useNavigate();
  const { data: me } = useMe();
  const offline = useOffline();
  const [reason, setReason] = useState('');
  const request = wanted(rows, chosen, all);
  const preview = useRollbackPreview(request);
  const rollBack = useRollBack();
  const row = rows.find((one) => one.id === chosen.run);
  const point = row?.points[chosen.position];
  const later = rows.filter((one) => !one.archived && one.version > (row?.version ?? 0));
  const title = `Back to ${point?.name ?? 'a checkpoint'} in v${row?.version ?? '?'}`;
  const full = { ...request, ...(reason.trim() && { user_reason: reason.trim() }) };
  const impact = preview.data?.impact;
  // The event may take the screen away before the answer is here, so the promise is what is waited for; an error stands below.
  const act = () => void rollBack.mutateAsync(full).then(onDone, () => {});
  const off = offline ?? (hasRole(me, 'approver') ? undefined : `Your role is ${me?.role ?? 'none'}; rolling back needs approver.`);
  const next = row?.points[chosen.position + 1];
  const said = impact ? lasting(impact, byId) : [];
  const earlier = rows.filter((one) => !one.archived && one.version < (row?.version ?? 0));
  return (
    <section aria-label="What would happen" className="px-7 pt-5 pb-6 max-tablet:px-4">
      <h2 className="text-question max-tablet:text-title">{title}</h2>
      <p className="text-ink-2">
        {point?.name} stays done. {next ? `${next.name} becomes the current checkpoint and waits to be started.` : `v${row?.version} is then completed.`} Nothing restarts by itself.
      </p>
      {later.length > 0 && (
        <div className="mt-3">
          <SegmentedControl
            label="How far it reaches"
            value={all ? 'all' : 'one'}
            onChange={(value) => onAll(value === 'all')}
            segments={[
              { value: 'all', label: `Also archive ${later.length === 1 ? `v${later[0]?.version}` : `v${later.at(-1)?.version} to v${later[0]?.version}`}` },
              { value: 'one', label: `Only within v${row?.version}` },
            ]}
          />
        </div>
      )}
      {preview.error && <ErrorBlock className="mt-4 max-w-[620px]" title="This is no point to go back to" problem={preview.error} />}
      {preview.isPending && <Loading label="What would go" rows={3} className="mt-4" />}
      {impact && (
        <>
          <div className="mt-3 grid rounded-3 border border-line bg-raised max-desk:divide-y desk:grid-cols-3 desk:divide-x divide-line">
            <Column icon="archived" title="Archived">
              <Line label="Executions">{impact.executions.length <= 3 ? `${impact.executions.length}: ${joined(impact.executions.map((one) => one.checkpoint_name))}` : impact.executions.length}</Line>
              {impact.runs.length > 0 && <Line label="Runs, whole">{joined(impact.runs.map((one) => `v${one.run_version}`))}</Line>}
              <Line label="Artifacts">
                {impact.artifacts.length}, {bytes(impact.bytes)}
              </Line>
              <Line label="Decisions by people">{impact.approvals}</Line>
            </Column>
            <Column icon="done" title="Kept">
              <Line label={joined(impact.kept.executions.map((one) => one.checkpoint_name)) || 'Executions'}>{impact.kept.executions.length === 0 ? 'none' : 'as they are'}</Line>
              {earlier.length > 0 && <Line label={earlier.length === 1 ? `v${earlier[0]?.version}` : `v${earlier.at(-1)?.version} to v${earlier[0]?.version}`}>untouched</Line>}
              {!all && later.length > 0 && <Line label={later.length === 1 ? `v${later[0]?.version}` : `v${later.at(-1)?.version} to v${later[0]?.version}`}>untouched</Line>}
              <Line label="Events">all</Line>
            </Column>
            <Column icon="retry" title="Doing it again">
              <Line label="Cost, about">
                <Money usd={impact.estimate.cost_usd} />
              </Line>
              <Line label="Time with waits, about">{took(impact.estimate.seconds * 1000)}</Line>
              <Line label="People asked, about">{many(impact.approvals, 'time')}</Line>
            </Column>
          </div>
          <div className="mt-3 flex gap-3 border-l-[3px] border-line-2 py-1 pl-3">
            <StatusMark icon="note" tone="ink-2" className="mt-0.5" />
            <div>
              <span className="font-name">{said.length > 0 ? 'Cannot be taken back:' : 'Nothing in it is final.'}</span>
              {said.length === 0 ? (
                ' Everything that goes is moved to the archive.'
              ) : (
                <ul className="text-ink-2">
                  {said.map((one) => (
                    <li key={one}>{one}</li>
                  ))}
                </ul>
              )}
            </div>
          </div>
        </>
      )}
      <Field label="Why" className="mt-3" help="For the record; it stands with the rollback and in the log.">
        <Input value={reason} onChange={(event) => setReason(event.target.value)} maxLength={2000} />
      </Field>
      {rollBack.error && <ErrorBlock className="mt-3" title="Nothing was rolled back" problem={rollBack.error} />}
      <div className="mt-3 flex flex-wrap items-center gap-2">
        <Button kind="primary" size="decisive" icon="back" keys="mod+enter" word="roll back" busy={rollBack.isPending} off={off ?? (impact ? undefined : preview.error ? 'There is nothing to roll back to here.' : 'Still looking at what would go.')} onClick={act}>
          {`Roll back${impact ? `, ${archived(impact)}` : ''}`}
        </Button>
        <Button size="decisive" icon="fork" hint="f" off="Pipelines do not fork: a new run extends the last one that stands." offAt="hidden">
          Fork instead
        </Button>
        {chosen.run !== rows.find((one) => !one.archived)?.id && (
          <Button size="decisive" icon="compare" keys="=" word="compare with now" onClick={() => void navigate({ to: '/compare', search: { a: chosen.run, b: rows.find((one) => !one.archived)?.id } })}>
            Compare
          </Button>
        )}
        <CopyAs what={{ command: command(full), method: 'POST', path: '/api/rollback', body: full }} />
      </div>
      <p className="mt-2 text-small text-ink-3">Fork instead is off: pipelines do not fork, a new run extends the last one that stands.</p>
      <p className="text-small text-ink-3">It can be undone as long as its archive is kept and nothing newer stands in its place; the list below then says until when.</p>
      {impact && impact.executions.length > 0 && (
        <section aria-label="What is archived" className="mt-4">
          <h3 className="label mb-1">What is archived, one by one</h3>
          <ul>
            {impact.executions.map((one) => {
              const known = byId.get(one.execution_id);
              const own = impact.artifacts.filter((artifact) => artifact.original_path.includes(place(known, one.checkpoint_position)));
              const version = known?.run_version ?? rows.find((it) => it.id === one.run_id)?.version;
              return (
                <li key={one.execution_id} className="grid min-h-8 grid-cols-[16px_minmax(0,1fr)_auto] items-center gap-3 border-b border-line desk:grid-cols-[16px_200px_minmax(0,1fr)_auto]">
                  {known ? <StatusLabel status={executionStatus(known, (waiting) => isMine(me, waiting))} bare /> : <StatusMark icon="archived" />}
                  <span className="truncate font-name">
                    {one.checkpoint_name} <span className="fact text-ink-3">v{version}</span>
                    {known && known.revision_iteration > 0 && `, revision ${known.revision_iteration + 1}`}
                    {known && known.attempt_number > 1 && `, try ${known.attempt_number}`}
                  </span>
                  <span className="fact truncate text-ink-3 max-desk:hidden">{own.map((artifact) => artifact.original_path.split('/').at(-1)).join(' ')}</span>
                  <span className="fact text-ink-3">{own.length > 0 && bytes(own.reduce((sum, artifact) => sum + artifact.size_bytes, 0))}</span>
                </li>
              );
            })}
          </ul>
        </section>
      )}
    </section>
  );
}

/** The folder of an execution in the paths of outputs. */
const place = (known: Execution | undefined, position: number | null | undefined) => `runs/v${known?.run_version ?? ''}/checkpoint_${position ?? ''}_`;

function Column({ icon, title, children }: { icon: StatusIcon; title: string; children: ReactNode }) {
  return (
    <div className="min-w-0 px-[14px] py-3">
      <h3 className="mb-1 flex items-center gap-2">
        <StatusMark icon={icon} tone="ink-2" />
        {title}
      </h3>
      <dl>{children}</dl>
    </div>
  );
}

function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex min-h-[21px] items-baseline justify-between gap-3">
      <dt className="min-w-0 truncate text-small text-ink-2">{label}</dt>
      <dd className="text-right text-small font-value">{children}</dd>
    </div>
  );
}
