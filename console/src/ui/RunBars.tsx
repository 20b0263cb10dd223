/** The runs of a pipeline as bars: height is how long, shape is how it ended. */
import clsx from 'clsx';
import type { Bar } from '@/model/pipelines';
import { took } from '@/model/time';

const FULL = 26;
const WORDS: Record<Bar['kind'], string> = { done: 'done', failed: 'failed', live: 'running', hold: 'waits for you', others: 'waits for somebody else', open: 'not ended', gone: 'aborted' };
/** Not finished: broken. Failed: cut in the middle. Gone: an outline. */
const KINDS: Record<Bar['kind'], string> = {
  done: 'bg-edge',
  failed: '[--cut:var(--color-fail)] bg-[linear-gradient(var(--cut)_0_calc(50%-1px),transparent_0_calc(50%+1px),var(--cut)_0)]',
  live: 'bg-[repeating-linear-gradient(to_top,var(--color-live)_0_5px,transparent_0_7px)]',
  hold: 'bg-[repeating-linear-gradient(to_top,var(--color-hold)_0_5px,transparent_0_7px)]',
  others: 'bg-[repeating-linear-gradient(to_top,var(--color-hold-ink)_0_5px,transparent_0_7px)]',
  open: 'bg-[repeating-linear-gradient(to_top,var(--color-edge)_0_5px,transparent_0_7px)]',
  gone: 'border border-line-2',
};

export function RunBars({ bars, label }: { bars: readonly Bar[]; label: string }) {
  return (
    <ol aria-label={label} className="flex h-[26px] items-end gap-[3px]">
      {bars.map((bar) => {
        const text = `v${bar.version}, ${WORDS[bar.kind]}, ${took(bar.milliseconds)}`;
        return (
          <li key={bar.id} title={text} className={clsx('w-2 rounded-[1px] forced-colors:border', KINDS[bar.kind])} style={{ height: Math.round(bar.height * FULL) }}>
            <span className="sr-only">{text}</span>
          </li>
        );
      })}
    </ol>
  );
}
