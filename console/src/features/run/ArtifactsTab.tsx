/** What the run made: by checkpoint, with a preview in its place, and earlier tries when wanted. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { downloadPath, useArtifacts } from '@/api/hooks/artifacts';
import type { Artifact } from '@/api/types';
import { bytes } from '@/model/figures';
import { Tag } from '@/ui/Badge';
import { Button } from '@/ui/Button';
import { Icon } from '@/ui/Icon';
import { GroupHeading } from '@/ui/page';
import { ArtifactPreview } from '@/ui/preview';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { Time } from '@/ui/values';
import type { RunView } from './useRunView';

export const useRunArtifacts = (run: string, all = false) => {
  const answer = useArtifacts({ run_id: run, ...(all ? { all } : {}) });
  return { ...answer, items: answer.data?.pages.flatMap((page) => page.items) };
};

export function ArtifactsTab({ view }: { view: RunView }) {
  const [earlier, setEarlier] = useState(false);
  const artifacts = useRunArtifacts(view.runId, earlier);
  const { items } = artifacts;
  if (artifacts.error) return <ErrorBlock title="The artifacts could not be read" problem={artifacts.error} className="m-5" />;
  if (!items) return <Loading label="Artifacts" />;
  const selected = items.find((one) => one.artifact_record_id === view.search.artifact);
  if (selected) {
    const before = items.filter((one) => one.artifact_id === selected.artifact_id && one.created_at < selected.created_at).sort((a, b) => (a.created_at < b.created_at ? 1 : -1))[0];
    return (
      <div className="flex h-full min-h-0 flex-col">
        <div className="flex flex-none items-center gap-2 border-b border-line px-3 py-1">
          <Button kind="quiet" size="small" icon="left" keys="escape" onClick={() => view.go({ artifact: undefined })}>
            All artifacts
          </Button>
          <span className="flex-1" />
          <Link to="/artifacts" search={{ artifact: selected.artifact_record_id }} className="text-small text-ink-2 underline decoration-line-2 underline-offset-2 hover:decoration-ink">
            Across versions
          </Link>
        </div>
        <div className="flex min-h-0 flex-1 flex-col">
          <ArtifactPreview artifact={selected} against={before} againstName={before ? stamp(before) : undefined} />
        </div>
      </div>
    );
  }
  if (items.length === 0) return <Empty title="Nothing was made yet">What checkpoints make stands here, with a preview and to download.</Empty>;
  const groups = new Map<string, Artifact[]>();
  for (const one of [...items].sort((a, b) => (a.checkpoint_position ?? 0) - (b.checkpoint_position ?? 0) || (a.created_at < b.created_at ? 1 : -1))) {
    const name = one.checkpoint_name ?? 'Checkpoint';
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return (
    <div className="scroll-pane h-full">
      <div className="flex items-center gap-2 border-b border-line px-5 py-1.5 max-tablet:px-4">
        <span className="flex-1" />
        <Button kind="quiet" size="small" aria-pressed={earlier} onClick={() => setEarlier(!earlier)}>
          {earlier ? 'Hide earlier tries' : 'Show earlier tries'}
        </Button>
      </div>
      {[...groups].map(([name, all]) => (
        <section key={name}>
          <GroupHeading end={all.length}>{name}</GroupHeading>
          <ul>
            {all.map((one) => (
              <li key={one.artifact_record_id} className="flex items-center border-b border-line hover:bg-hover">
                <button type="button" onClick={() => view.go({ artifact: one.artifact_record_id })} className="flex min-h-[46px] min-w-0 flex-1 items-center gap-[11px] py-1.5 pl-5 text-left focus-visible:-outline-offset-2 max-tablet:pl-4">
                  <Icon name="file" className="text-ink-3" />
                  <span className="min-w-0 flex-1">
                    <span className="flex items-center gap-2">
                      <span className="truncate font-name">{one.artifact_name}</span>
                      <Tag>{one.format}</Tag>
                      {!one.current && <Tag>{stamp(one)}</Tag>}
                    </span>
                    <span className="block truncate text-small text-ink-3">{one.file_name}</span>
                  </span>
                  <span className="text-right text-small whitespace-nowrap text-ink-2">
                    <span className="block">{bytes(one.size_bytes)}</span>
                    <span className="block text-ink-3">
                      <Time at={one.created_at} as="moment" />
                    </span>
                  </span>
                </button>
                <a href={downloadPath(one.artifact_record_id)} download={one.file_name} title={`Download ${one.file_name}`} className="mx-2 grid size-[30px] flex-none place-items-center rounded-2 text-ink-2 hover:bg-hover max-tablet:size-11">
                  <Icon name="download" />
                  <span className="sr-only">Download {one.file_name}</span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {artifacts.hasNextPage && (
        <Button className="m-3" size="small" busy={artifacts.isFetchingNextPage} onClick={() => void artifacts.fetchNextPage()}>
          Show more
        </Button>
      )}
    </div>
  );
}

const stamp = (one: Artifact) => `rev ${one.revision_iteration + 1}${one.attempt_number > 1 ? `, try ${one.attempt_number}` : ''}`;
