/** What the run cost: by model, by agent, by checkpoint, and by try of the selected checkpoint. */
import { useAttempts } from '@/api/hooks/executions';
import { type UsageBy, useRunUsage } from '@/api/hooks/journal';
import type { Usage } from '@/api/types';
import { attemptName } from '@/model/conversation';
import { count, money } from '@/model/figures';
import { took } from '@/model/time';
import { ErrorBlock, Loading } from '@/ui/states';
import { Fact, Facts, Share } from '@/ui/values';
import type { RunView } from './useRunView';

interface Line {
  name: string;
  usage: Usage;
  seconds: number | undefined;
}

export function CostTab({ view }: { view: RunView }) {
  const { usage } = view;
  const attempts = useAttempts(view.execution?.execution_id);
  if (usage.error) return <ErrorBlock title="What it cost could not be read" problem={usage.error} className="m-5" />;
  if (usage.isPending) return <Loading label="Cost" />;
  const { total } = usage.data;
  const tries = attempts.data?.items ?? [];
  return (
    <div className="scroll-pane h-full pb-5">
      <Facts className="px-5 py-3 max-tablet:px-4">
        <Fact label="Spent">{money(total.cost_usd)}</Fact>
        <Fact label="Calls">{count(total.calls)}</Fact>
        <Fact label="Tokens in">{count(total.input_tokens)}</Fact>
        <Fact label="Tokens out">{count(total.output_tokens)}</Fact>
        <Fact label="From caches">{count(total.cache_read_tokens)}</Fact>
      </Facts>
      {total.calls === 0 && <p className="px-5 pb-3 text-ink-2 max-tablet:px-4">No model was asked, so nothing was spent.</p>}
      <Group title="By model" run={view.runId} by="model" />
      <Group title="By agent" run={view.runId} by="agent" />
      <Group title="By checkpoint" run={view.runId} by="checkpoint" />
      {tries.length > 0 && (
        <Bars
          title={`By try of ${view.execution?.checkpoint_name ?? 'this checkpoint'}`}
          lines={tries.map((one) => ({ name: tries.length > 1 ? attemptName(one, tries) : 'Try 1', usage: one.usage, seconds: one.ended_at ? (new Date(one.ended_at).getTime() - new Date(one.started_at).getTime()) / 1000 : undefined }))}
        />
      )}
      <p className="px-5 pt-3 text-small text-ink-3 max-tablet:px-4">Tries that failed and what was rolled back count too: they were paid.</p>
    </div>
  );
}

function Group({ title, run, by }: { title: string; run: string; by: UsageBy }) {
  const usage = useRunUsage(run, by);
  const lines = usage.data?.items.map((item) => ({ name: item.name ?? item.key ?? 'Nobody in particular', usage: item.usage, seconds: item.seconds })) ?? [];
  return <Bars title={title} lines={lines} />;
}

/** Horizontal bars with figures at the end; tokens stand in for money where nothing cost any. */
function Bars({ title, lines }: { title: string; lines: readonly Line[] }) {
  if (lines.length === 0) return null;
  const paid = lines.some((line) => line.usage.cost_usd > 0);
  const tokens = (usage: Usage) => usage.input_tokens + usage.output_tokens;
  const value = (line: Line) => (paid ? line.usage.cost_usd : tokens(line.usage));
  const most = Math.max(...lines.map(value), Number.MIN_VALUE);
  return (
    <table className="w-full text-small">
      <caption className="label px-5 pt-3 pb-1 text-left max-tablet:px-4">{title}</caption>
      <thead className="sr-only">
        <tr>
          {['Name', 'Share', 'Tokens', 'Time', 'Cost'].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => (
          <tr key={line.name} className="border-t border-line">
            <th scope="row" className="max-w-[140px] truncate py-1 pr-3 pl-5 text-left font-value max-tablet:pl-4" title={line.name}>
              {line.name}
            </th>
            <td className="w-[30%] py-1 pr-3">
              <Share of={value(line) / most} />
            </td>
            <td className="fact py-1 pr-3 text-right whitespace-nowrap text-ink-3">{count(tokens(line.usage))} tok</td>
            <td className="py-1 pr-3 text-right whitespace-nowrap text-ink-3">{line.seconds ? took(line.seconds * 1000) : ''}</td>
            <td className="py-1 pr-5 text-right font-value">{money(line.usage.cost_usd)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
