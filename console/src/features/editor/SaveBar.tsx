/** What is not saved, what is in the way, and the two ways out: save, or discard. */
import { Link } from '@tanstack/react-router';
import { type RefObject, useLayoutEffect, useRef } from 'react';
import type { Problem } from '@/api/problem';
import type { Changed, Draft } from '@/model/definition';
import { nameOf } from '@/model/definition';
import type { Fault } from '@/model/definition-faults';
import { place } from '@/model/definition-words';
import { many } from '@/model/figures';
import { Button } from '@/ui/Button';
import { StatusMark } from '@/ui/Icon';
import { Popover } from '@/ui/overlays';
import { ErrorBlock } from '@/ui/states';

interface Props {
  draft: Draft;
  changed: Changed;
  /** Whether the file has text that cannot be read. */
  unread: boolean;
  faults: readonly Fault[];
  problem: Problem | undefined;
  /** Whether it was asked for, or only looked at. */
  tried: boolean;
  off: string | undefined;
  busy: boolean;
  verb: string;
  onFault: (fault: Fault) => void;
  onSave: () => void;
  onDiscard: () => void;
  onCompare: () => void;
}

export function SaveBar({ draft, changed, unread, faults, problem, tried, off, busy, verb, onFault, onSave, onDiscard, onCompare }: Props) {
  const { words } = changed;
  const runs = Array.isArray(problem?.more.runs) ? (problem.more.runs as string[]) : [];
  const bar = useRef<HTMLDivElement>(null);
  useToastsAbove(bar);
  return (
    <div ref={bar} className="flex-none border-t border-line bg-surface">
      {problem && (
        <div className="scroll-pane max-h-[40dvh] px-5 pt-3 max-tablet:px-4">
          <ErrorBlock
            title={tried ? 'The definition was not saved' : 'It cannot be saved like this'}
            problem={problem}
            action={runs.map((id) => (
              <Link key={id} to="/runs/$runId" params={{ runId: id }} className="text-small font-value underline underline-offset-2">
                Run {id.slice(-8)}
              </Link>
            ))}
          />
        </div>
      )}
      <div className="flex min-h-12 flex-wrap items-center gap-x-[10px] gap-y-2 px-5 py-2 max-tablet:px-4">
        {faults.length > 0 && (
          <Popover
            label="To fix"
            align="start"
            trigger={
              <button type="button" className="touch-target inline-flex items-center gap-1.5 rounded-1 text-fail">
                <StatusMark icon="failed" size={14} />
                {many(faults.length, 'thing')} to fix
              </button>
            }
          >
            <ul className="flex max-h-[50dvh] flex-col overflow-auto">
              {faults.map((fault, at) => {
                const part = draft.parts.find((one) => one.key === fault.key);
                return (
                  <li key={at}>
                    <button type="button" onClick={() => onFault(fault)} className="block w-full rounded-1 px-2 py-1 text-left hover:bg-hover">
                      <span className="block text-small text-ink-3">{[part ? nameOf(part) || 'No name' : 'Pipeline', place(fault.pointer)].filter(Boolean).join(', ')}</span>
                      {fault.message}
                    </button>
                  </li>
                );
              })}
            </ul>
          </Popover>
        )}
        <span aria-live="polite" className="min-w-0 truncate text-ink-3">
          {words.length === 0 ? (unread ? 'What is written in the file is not saved' : 'All is saved') : `${many(words.length, 'change')} not saved: ${words.slice(0, 4).join(', ')}${words.length > 4 ? ` and ${words.length - 4} more` : ''}`}
        </span>
        <span className="flex-1" />
        {words.length > 0 && (
          <>
            <Button kind="quiet" onClick={onDiscard}>
              Discard
            </Button>
            <Button onClick={onCompare} className="max-tablet:hidden">
              Compare with what is saved
            </Button>
          </>
        )}
        <Button kind="primary" keys="mod+s" word="save" busy={busy} off={off} offAt="hidden" onClick={onSave} className="max-tablet:ml-auto">
          {verb}
        </Button>
        {off && (words.length > 0 || unread) && faults.length === 0 && <span className="text-small text-ink-3">{off}</span>}
      </div>
    </div>
  );
}

/** A toast must not cover what is in the way of saving. */
function useToastsAbove(bar: RefObject<HTMLDivElement | null>): void {
  useLayoutEffect(() => {
    const main = document.getElementById('main');
    const it = bar.current;
    if (!main || !it) return;
    const watch = new ResizeObserver(() => main.style.setProperty('--save-bar', `${it.offsetHeight}px`));
    watch.observe(it);
    return () => {
      watch.disconnect();
      main.style.removeProperty('--save-bar');
    };
  }, [bar]);
}
