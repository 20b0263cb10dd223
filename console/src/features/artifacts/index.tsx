/** Outputs by name: names at the left, versions as a track over the content, where each came from at the right. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import clsx from 'clsx';
import { useMemo } from 'react';
import { useArtifact, useArtifacts } from '@/api/hooks/artifacts';
import { usePipelines } from '@/api/hooks/pipelines';
import { Problem } from '@/api/problem';
import type { Artifact } from '@/api/types';
import { byName, type Named, versionName } from '@/model/artifacts';
import { many } from '@/model/figures';
import { Button } from '@/ui/Button';
import { Input, Select } from '@/ui/fields';
import { Icon } from '@/ui/Icon';
import { useNarrow, usePhone } from '@/ui/media';
import { Page } from '@/ui/page';
import { ArtifactPreview, type View } from '@/ui/preview';
import { useShortcut } from '@/ui/shortcuts';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { Time } from '@/ui/values';
import { Origin } from './Origin';
import { Versions } from './Versions';

export default function Artifacts() {
  const search = useSearch({ from: '/shell/artifacts' });
  const navigate = useNavigate({ from: '/artifacts' });
  const phone = usePhone();
  const pipelines = usePipelines().data?.pages.flatMap((page) => page.items) ?? [];
  const list = useArtifacts({ ...(search.pipeline_id && { pipeline_id: search.pipeline_id }), all: true });
  // An address may name one that is not among those that were read yet, or that was rolled back.
  const named = useArtifact(search.artifact);
  const all = useMemo(() => [...(list.data?.pages.flatMap((page) => page.items) ?? []), ...(named.data ? [named.data] : [])], [list.data, named.data]);
  const groups = useMemo(() => byName(all, search.find), [all, search.find]);
  const group = groups.find((one) => (search.artifact ? one.versions.some((it) => it.artifact_record_id === search.artifact) : one.key === search.name)) ?? (search.artifact || phone ? undefined : groups[0]);
  const chosen = group && (group.versions.find((it) => it.artifact_record_id === search.artifact) ?? group.versions.findLast((it) => it.current) ?? group.versions.at(-1));
  const open = (next: Named | undefined) => void navigate({ search: (now) => ({ ...now, name: next?.key, artifact: undefined }), replace: true });
  const at = groups.findIndex((one) => one === group);
  useShortcut(groups.length > 0 ? 'j' : undefined, 'move', () => open(groups[Math.min(groups.length - 1, at + 1)]), { order: 10, repeats: true });
  useShortcut(groups.length > 0 ? 'k' : undefined, 'move', () => open(groups[Math.max(0, at - 1)]), { order: 10, repeats: true });
  const shown = group && chosen;
  const names = (
    <ul>
      {groups.map((one) => (
        <li key={one.key}>
          <Item it={one} pipeline={pipelines.find((p) => p.pipeline_id === one.pipeline)?.pipeline_name} selected={one === group} onOpen={() => open(one)} />
        </li>
      ))}
      {list.hasNextPage && (
        <li className="p-2 text-center">
          <Button size="small" kind="quiet" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Read older ones
          </Button>
        </li>
      )}
    </ul>
  );
  return (
    <Page
      title="Artifacts"
      meta={list.data && many(groups.length, 'name')}
      actions={
        <>
          {phone && shown ? (
            <Button size="small" icon="left" onClick={() => open(undefined)}>
              All names
            </Button>
          ) : (
            <>
              <span className="w-44 flex-none">
                <Select
                  aria-label="Pipeline"
                  value={search.pipeline_id ?? ''}
                  onChange={(event) => void navigate({ search: (now) => ({ ...now, pipeline_id: event.target.value || undefined, name: undefined, artifact: undefined }), replace: true })}
                  options={[{ value: '', label: 'All pipelines' }, ...pipelines.map((one) => ({ value: one.pipeline_id, label: one.pipeline_name }))]}
                />
              </span>
              <Input find hint="/" data-find aria-label="Find a name" placeholder="Find a name" className="w-52" value={search.find ?? ''} onChange={(event) => void navigate({ search: (now) => ({ ...now, find: event.target.value || undefined }), replace: true })} />
            </>
          )}
        </>
      }
    >
      {list.error && <ErrorBlock title="The artifacts could not be read" problem={list.error} className="m-5 max-w-[560px]" />}
      {named.error && <ErrorBlock title={Problem.of(named.error).code === 'rolled_back' ? 'This artifact was rolled back' : 'This artifact could not be read'} problem={named.error} className="m-5 max-w-[560px]" />}
      {list.isPending && <Loading label="Artifacts" />}
      {list.data && groups.length === 0 && (
        <Empty title={search.find ? 'No name like that' : 'No artifacts yet'}>{search.find ? 'Names, files and checkpoints of what has been read were looked through.' : 'What checkpoints make stands here by its name, with every version and the run that made it.'}</Empty>
      )}
      {groups.length > 0 &&
        (phone ? (
          <div className="scroll-pane flex min-h-0 flex-1 flex-col">{shown ? <One key={chosen.artifact_record_id} group={group} it={chosen} pipeline={pipelines.find((p) => p.pipeline_id === group.pipeline)?.pipeline_name} /> : names}</div>
        ) : (
          <div className="grid min-h-0 flex-1 grid-cols-[minmax(180px,272px)_minmax(0,1fr)]">
            <nav aria-label="Names" className="scroll-pane min-h-0 border-r border-line">
              {names}
            </nav>
            {shown ? <One key={chosen.artifact_record_id} group={group} it={chosen} pipeline={pipelines.find((p) => p.pipeline_id === group.pipeline)?.pipeline_name} /> : <span />}
          </div>
        ))}
    </Page>
  );
}

function Item({ it, pipeline, selected, onOpen }: { it: Named; pipeline: string | undefined; selected: boolean; onOpen: () => void }) {
  const last = it.versions.at(-1);
  return (
    <button
      type="button"
      onClick={onOpen}
      aria-current={selected ? 'true' : undefined}
      className={clsx('grid w-full grid-cols-[16px_minmax(0,1fr)_auto] gap-x-[10px] border-b border-line px-5 py-[10px] text-left focus-visible:-outline-offset-2 max-tablet:min-h-[68px] max-tablet:px-4', selected ? 'selected-row' : 'hover:bg-hover')}
    >
      <Icon name="file" className="mt-0.5 text-ink-3" />
      <span className="min-w-0">
        <span className="block truncate font-name">{it.name}</span>
        <span className="block truncate text-small text-ink-3">
          {pipeline}, {many(it.versions.length, 'version')}
        </span>
      </span>
      {last && <Time at={last.created_at} className="text-small text-ink-3" />}
    </button>
  );
}

function One({ group, it, pipeline }: { group: Named; it: Artifact; pipeline: string | undefined }) {
  const { view } = useSearch({ from: '/shell/artifacts' });
  const navigate = useNavigate({ from: '/artifacts' });
  const narrow = useNarrow();
  const at = group.versions.indexOf(it);
  const before = group.versions[at - 1];
  const shown: View = view === 'raw' || view === 'diff' ? view : 'rendered';
  const choose = (next: Artifact | undefined) => next && void navigate({ search: (now) => ({ ...now, artifact: next.artifact_record_id, name: group.key }), replace: true });
  const look = (next: View) => void navigate({ search: (now) => ({ ...now, view: next === 'rendered' ? undefined : next }), replace: true });
  useShortcut(at > 0 ? 'h' : undefined, 'version', () => choose(group.versions[at - 1]), { order: 20, repeats: true });
  useShortcut(at < group.versions.length - 1 ? 'l' : undefined, 'version', () => choose(group.versions[at + 1]), { order: 20, repeats: true });
  useShortcut(before ? 'd' : undefined, 'diff to the version before', () => look(shown === 'diff' ? 'rendered' : 'diff'), { order: 30 });
  const compare = before && (
    <Button size="small" icon="compare" className="self-start" onClick={() => void navigate({ to: '/compare', search: before.execution_id === it.execution_id ? { a: address(before), b: address(it) } : { a: before.execution_id, b: it.execution_id } })}>
      {`Compare with ${versionName(before, group.versions)}`}
    </Button>
  );
  return (
    <div className={clsx('flex min-h-0 min-w-0 flex-col', !narrow && 'grid grid-cols-[minmax(0,1fr)_264px]')}>
      <div className="flex min-h-0 min-w-0 flex-col max-tablet:min-h-[60dvh]">
        <Versions versions={group.versions} chosen={it} onChoose={choose} />
        <ArtifactPreview artifact={it} against={before} againstName={before && versionName(before, group.versions)} view={shown} onView={look} />
      </div>
      <div className={clsx('scroll-pane min-h-0 bg-canvas', narrow ? 'border-t border-line' : 'border-l border-line')}>
        <Origin it={it} pipeline={pipeline}>
          {compare}
        </Origin>
      </div>
    </div>
  );
}

const address = (it: Artifact) => `${it.execution_id}@${it.revision_iteration}.${it.attempt_number}`;
