/** The timeline as a table: for readers who cannot or will not look at bars. */
import { count, money } from '@/model/figures';
import { clock, took } from '@/model/time';
import type { Row } from '@/model/timeline-rows';
import { KINDS } from './BarTip';

/** More rows than this are left out here; the conversation has them. */
const MOST = 1000;

export function TimelineTable({ rows, now, onSelect }: { rows: readonly Row[]; now: number; onSelect: (row: Row) => void }) {
  const all = rows.flatMap((row) => row.bars.map((bar) => ({ row, bar })));
  const left = Math.max(0, all.length - MOST);
  return (
    <div className="scroll-pane border-y border-line">
      <table className="w-full text-small">
        <caption className="sr-only">Everything that the timeline shows{left > 0 && `, without the first ${count(left)}`}</caption>
        <thead>
          <tr className="label text-left">
            {['Checkpoint', 'Try', 'What', 'Who', 'From', 'Took', 'Tokens', 'Cost'].map((name, at) => (
              <th key={name} scope="col" className={`py-1.5 pr-3 font-name first:pl-5 ${at > 4 ? 'text-right' : ''}`}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {all.slice(left).map(({ row, bar }) => (
            <tr key={bar.key} className="border-t border-line">
              <td className="py-1 pr-3 pl-5 font-name whitespace-nowrap">{row.checkpoint}</td>
              <td className="py-1 pr-3 whitespace-nowrap">
                <button type="button" className="underline decoration-line-2 underline-offset-2" onClick={() => onSelect(row)}>
                  {row.label}
                </button>
              </td>
              <td className="py-1 pr-3 whitespace-nowrap">{KINDS[bar.kind]}</td>
              <td className="max-w-[260px] truncate py-1 pr-3">
                {bar.name}
                {(bar.word ?? bar.about) && <span className="text-ink-3">, {bar.word ?? bar.about}</span>}
              </td>
              <td className="fact py-1 pr-3">{clock(new Date(bar.from), true)}</td>
              <td className="py-1 pr-3 text-right whitespace-nowrap">{bar.to === undefined ? `${took(now - bar.from)} so far` : took(bar.to - bar.from)}</td>
              <td className="py-1 pr-3 text-right">{bar.usage ? count(bar.usage.input_tokens + bar.usage.output_tokens) : ''}</td>
              <td className="py-1 pr-4 text-right">{bar.usage ? money(bar.usage.cost_usd) : ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
