/** The bars of a row. Many of them are drawn on a canvas with the same colours. */
import clsx from 'clsx';
import { useEffect, useRef } from 'react';
import { took } from '@/model/time';
import { MANY, type Placed } from '@/model/timeline';
import type { Bar } from '@/model/timeline-rows';
import { useTheme } from '@/ui/theme';

export function Bars({ placed, active }: { placed: readonly Placed[]; active: number | undefined }) {
  if (placed.length > MANY) return <Canvas placed={placed} active={active} />;
  return placed.map((one, at) => <OneBar key={one.bar.key} {...one} active={at === active} />);
}

const HEIGHTS: Record<Bar['kind'], string> = { turn: 'top-[10px] h-3', work: 'top-[10px] h-3', tool: 'top-[10px] h-3', check: 'top-[10px] h-3', wait: 'top-2 h-4', delay: 'top-[15px] h-0' };

function look(bar: Bar): string {
  const open = bar.to === undefined;
  if (bar.kind === 'wait') return open ? 'hatch-now border border-hold' : 'hatch border border-hold-line';
  if (bar.kind === 'delay') return 'border-t-2 border-dashed border-line-2';
  if (bar.bad) return 'bg-fail';
  if (bar.kind === 'check') return 'bg-done';
  if (open) return 'bg-live';
  return bar.kind === 'tool' ? 'border-[1.5px] border-edge bg-surface' : 'bg-ink-2';
}

function OneBar({ bar, x, width, active }: Placed & { active: boolean }) {
  return (
    <span
      className={clsx('absolute rounded-1 forced-colors:border forced-colors:border-[CanvasText]', HEIGHTS[bar.kind], look(bar), (bar.kind === 'delay' || (bar.kind !== 'wait' && width < 5)) && 'rounded-none!', active && 'outline-2 outline-offset-1 outline-ink')}
      style={{ left: x, width }}
    >
      {bar.kind === 'wait' && bar.to !== undefined && width > 46 && (
        <span className="absolute inset-y-0 left-1/2 -translate-x-1/2 bg-surface px-1 text-label leading-[14px] whitespace-nowrap text-ink-2">{took(bar.to - bar.from).replace(/ min \d\d$/, ' min')}</span>
      )}
    </span>
  );
}

const HEIGHT = 32;

function Canvas({ placed, active }: { placed: readonly Placed[]; active: number | undefined }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const end = Math.ceil(Math.max(...placed.map((one) => one.x + one.width))) + 2;
  useEffect(() => {
    const it = canvas.current;
    const pen = it?.getContext('2d');
    if (!it || !pen) return;
    const draw = () => {
      const ratio = devicePixelRatio;
      it.width = end * ratio;
      it.height = HEIGHT * ratio;
      pen.scale(ratio, ratio);
      const style = getComputedStyle(it);
      const colour = (name: string) => {
        it.style.color = `var(--color-${name})`;
        return style.color;
      };
      const [ink, edge, done, fail, live, wait] = ['ink-2', 'edge', 'done', 'fail', 'live', 'hold-line'].map(colour) as [string, string, string, string, string, string];
      for (const [at, { bar, x, width }] of placed.entries()) {
        pen.fillStyle = bar.kind === 'wait' ? wait : bar.bad ? fail : bar.kind === 'check' ? done : bar.to === undefined ? live : ink;
        if (bar.kind === 'tool' || bar.kind === 'delay') {
          pen.strokeStyle = edge;
          pen.strokeRect(x + 0.5, 10.5, Math.max(0.5, width - 1), 11);
        } else pen.fillRect(x, 10, Math.max(0.5, width), 12);
        if (at === active) pen.fillRect(x, 25, Math.max(2, width), 2);
      }
      it.style.color = '';
    };
    draw();
    const media = matchMedia('(prefers-color-scheme: dark)');
    media.addEventListener('change', draw);
    return () => media.removeEventListener('change', draw);
  }, [placed, active, theme, end]);
  return <canvas ref={canvas} className="absolute top-0 left-0" style={{ width: end, height: HEIGHT }} />;
}
