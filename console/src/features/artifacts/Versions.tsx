/** The versions of one output as a track. */
import clsx from 'clsx';
import { type KeyboardEvent, useEffect, useRef } from 'react';
import type { Artifact } from '@/api/types';
import { versionName } from '@/model/artifacts';
import { Time } from '@/ui/values';

export function Versions({ versions, chosen, onChoose }: { versions: readonly Artifact[]; chosen: Artifact; onChoose: (it: Artifact) => void }) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [chosen]);
  const walk = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const all = [...(list.current?.querySelectorAll('button') ?? [])];
    const next = all[all.indexOf(event.target as HTMLButtonElement) + by];
    if (by === 0 || !next) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <ol ref={list} aria-label="Versions" onKeyDown={walk} className="scroll-pane flex flex-none overflow-y-hidden border-b border-line px-5 py-2 max-tablet:px-4">
      {versions.map((it, at) => {
        const here = it.artifact_record_id === chosen.artifact_record_id;
        return (
          <li key={it.artifact_record_id} aria-current={here ? 'step' : undefined} className="relative flex min-w-[104px] flex-none flex-col">
            {at < versions.length - 1 && <span aria-hidden="true" className="absolute top-[13px] left-5 w-[calc(100%-20px)] border-t-2 border-line-2" />}
            <button type="button" onClick={() => onChoose(it)} className="group relative flex min-h-11 flex-col items-start rounded-2 pr-3 text-left">
              <span className="grid h-[26px] place-items-center">
                <span className={clsx('size-[14px] rounded-full border-2', here ? 'border-ink bg-ink' : it.current ? 'border-ink-2 bg-surface group-hover:bg-ink-3' : 'border-dashed border-ink-3 bg-surface')} />
              </span>
              <span className={clsx('whitespace-nowrap', here ? 'font-name' : 'text-ink-2')}>{versionName(it, versions)}</span>
              <span className="text-small whitespace-nowrap text-ink-3">
                <Time at={it.created_at} as="moment" />
                {!it.current && ', replaced'}
              </span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}
