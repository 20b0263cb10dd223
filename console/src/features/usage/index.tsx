/** What work cost, by what it was spent on; what is kept on disk; what would go. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { usePipelines } from '@/api/hooks/pipelines';
import { useUsage } from '@/api/hooks/usage';
import { count, money } from '@/model/figures';
import { took } from '@/model/time';
import { type Bar, bars, begins, type By, BYS, type Measure, MEASURES, PERIODS, telling } from '@/model/usage';
import { Button } from '@/ui/Button';
import { Select } from '@/ui/fields';
import { Page } from '@/ui/page';
import { useShortcut } from '@/ui/shortcuts';
import { ErrorBlock, Loading } from '@/ui/states';
import { SegmentedControl } from '@/ui/Tabs';
import { Fact, Facts, useNow } from '@/ui/values';
import { Bars } from './Bars';
import { Disk, Retention } from './Disk';

const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export default function Usage() {
  const search = useSearch({ from: '/shell/usage' });
  const navigate = useNavigate({ from: '/usage' });
  const pipelines = usePipelines().data?.pages.flatMap((page) => page.items) ?? [];
  const by: By = BYS.find((one) => one === search.by) ?? 'pipeline';
  const period = PERIODS.some((one) => one.value === search.since) ? (search.since as string) : '30';
  const since = begins(period, useNow(600_000));
  const usage = useUsage({ group_by: by, ...(search.pipeline_id && { pipeline_id: search.pipeline_id }), ...(since && { since }) });
  const set = (change: Partial<typeof search>) => void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  BYS.forEach((one, at) => {
    // Always the same five, so their order is.
    // eslint-disable-next-line react-hooks/rules-of-hooks
    useShortcut(String(at + 1), 'by what', () => set({ by: one }), { order: 10 });
  });
  const data = usage.data;
  const measure: Measure = MEASURES.find((one) => one === search.show) ?? (data ? telling(data) : 'cost');
  const drawn = useMemo(() => (data ? bars(data.items, by, measure) : []), [data, by, measure]);
  return (
    <Page
      title="Usage"
      meta={data && (data.total.cost_usd > 0 ? `${money(data.total.cost_usd)} spent` : 'nothing spent')}
      actions={
        <>
          <span className="w-44 flex-none">
            <Select
              aria-label="Pipeline"
              value={search.pipeline_id ?? ''}
              onChange={(event) => set({ pipeline_id: event.target.value || undefined })}
              options={[{ value: '', label: 'All pipelines' }, ...pipelines.map((one) => ({ value: one.pipeline_id, label: one.pipeline_name }))]}
            />
          </span>
          <SegmentedControl label="Since when" value={period} onChange={(next) => set({ since: next === '30' ? undefined : next })} segments={PERIODS.map(({ value, label }) => ({ value, label }))} />
        </>
      }
    >
      <div className="scroll-pane min-h-0 flex-1" tabIndex={0} role="region" aria-label="Usage">
        <div className="flex max-w-[1020px] flex-col gap-8 px-7 py-5 max-tablet:px-4">
          <section aria-labelledby="spent" className="flex flex-col gap-3">
            <div className="flex flex-wrap items-center gap-3">
              <h2 id="spent" className="text-page">
                By {by}
              </h2>
              <SegmentedControl label="By what" value={by} onChange={(next) => set({ by: next === 'pipeline' ? undefined : next })} segments={BYS.map((one) => ({ value: one, label: upper(one) }))} />
              <SegmentedControl label="What is measured" value={measure} onChange={(next) => set({ show: next })} segments={MEASURES.map((one) => ({ value: one, label: upper(one) }))} />
            </div>
            {usage.error && <ErrorBlock title="What work cost could not be added up" problem={usage.error} className="max-w-[560px]" action={<Button size="small" onClick={() => void usage.refetch()}>Try again</Button>} />}
            {usage.isPending && <Loading label={`By ${by}`} rows={4} />}
            {data && (
              <Facts>
                <Fact label="Spent">{money(data.total.cost_usd)}</Fact>
                <Fact label="Calls of models">{count(data.total.calls)}</Fact>
                <Fact label="Tokens in">{count(data.total.input_tokens)}</Fact>
                <Fact label="Tokens out">{count(data.total.output_tokens)}</Fact>
                <Fact label="From and to caches">
                  {count(data.total.cache_read_tokens)}, {count(data.total.cache_write_tokens)}
                </Fact>
                <Fact label="Work, without waits">{took(data.seconds * 1000)}</Fact>
              </Facts>
            )}
            {data && data.items.length === 0 && <p className="text-ink-2">No model was called in this time. When agents work, what it costs stands here.</p>}
            {data && data.total.calls > 0 && data.total.cost_usd === 0 && <p className="text-small text-ink-3">These calls cost nothing: their answers were scripted, or no price is known for the model.</p>}
            {drawn.length > 0 && <Bars bars={drawn} label={`${upper(measure)} by ${by}`}>{by === 'pipeline' ? pipelineLink : undefined}</Bars>}
            {drawn.length > 0 && <Table by={by} rows={drawn} />}
            <p className="text-small text-ink-3">Every call counts, also those of tries that failed and of runs that were rolled back: they were paid.</p>
          </section>
          <Disk />
          <Retention />
        </div>
      </div>
    </Page>
  );
}

const pipelineLink = (bar: Bar) =>
  bar.group.key && (
    <Link to="/pipelines/$pipelineId" params={{ pipelineId: bar.group.key }} className="hover:underline">
      {bar.name}
    </Link>
  );

function Table({ by, rows }: { by: By; rows: readonly Bar[] }) {
  const heads = ['Cost', 'Calls', 'Tokens in', 'Tokens out', 'Cache read', 'Cache written', 'Time'];
  return (
    <div className="scroll-pane" tabIndex={0} role="region" aria-label={`Table by ${by}`}>
      <table className="w-full text-right text-small whitespace-nowrap">
        <thead>
          <tr className="border-b border-line">
            <th scope="col" className="label py-1 pr-4 text-left">
              {upper(by)}
            </th>
            {heads.map((head) => (
              <th key={head} scope="col" className="label py-1 pl-4">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, group: { usage, seconds } }) => (
            <tr key={key} className="border-b border-line">
              <th scope="row" className="max-w-[240px] truncate py-1 pr-4 text-left font-value">
                {name}
              </th>
              {[money(usage.cost_usd), ...[usage.calls, usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens].map(count), took(seconds * 1000)].map((value, at) => (
                <td key={at} className="py-1 pl-4">
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
