/** What a bar is, exactly: who, when, how long, tokens, money. */
import { count, money } from '@/model/figures';
import { clock, took } from '@/model/time';
import type { Bar } from '@/model/timeline-rows';

export const KINDS: Record<Bar['kind'], string> = { turn: 'Model turn', tool: 'Tool', work: 'Work', check: 'Check', wait: 'A person', delay: 'Delay' };

export function BarTip({ bar, now, x, top }: { bar: Bar; now: number; x: number; top: number }) {
  const { usage } = bar;
  return (
    <div className="pointer-events-none absolute z-20 w-[260px] rounded-2 border border-line-2 bg-raised px-2 py-1 text-small shadow-2" style={{ left: x, top }}>
      <p className="truncate font-name">
        {bar.name}
        <span className="font-body text-ink-3"> {KINDS[bar.kind].toLowerCase()}</span>
      </p>
      {bar.about && <p className="line-clamp-2 text-ink-2">{bar.about}</p>}
      {bar.word && <p className="line-clamp-2 text-ink-2">{bar.word}</p>}
      <p className="fact text-ink-2">
        {clock(new Date(bar.from), true)} to {bar.to === undefined ? 'now' : clock(new Date(bar.to), true)}, {took((bar.to ?? now) - bar.from)}
      </p>
      {usage && (
        <p className="fact text-ink-3">
          {count(usage.input_tokens)} in, {count(usage.output_tokens)} out, {money(usage.cost_usd)}
        </p>
      )}
    </div>
  );
}
