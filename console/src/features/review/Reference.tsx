/** What the step is given: outputs of earlier steps, and of the same step in the run before. */
import { useState } from 'react';
import type { Artifact, Execution } from '@/api/types';
import { fileName } from '@/model/artifacts';
import { Tag } from '@/ui/Badge';
import { Select } from '@/ui/fields';
import { ArtifactPreview } from '@/ui/preview';

interface Given {
  artifact: Artifact;
  from: string;
}

/** Everything that stands beside the work for reading, newest run first. */
export function given(execution: Execution): Given[] {
  const { previous_version: previous, referenced_outputs: referenced } = execution.inputs;
  const all = [...(previous ? [previous] : []), ...referenced];
  return all.flatMap((one) => one.artifacts.map((artifact) => ({ artifact, from: `${one.checkpoint_name ?? 'step'}${one.run_version == null ? '' : `, v${one.run_version}`}` })));
}

export function Reference({ all }: { all: readonly Given[] }) {
  const [at, setAt] = useState(0);
  const chosen = all[at] ?? all[0];
  if (!chosen) return null;
  return (
    <section aria-label="For reference" className="flex min-h-0 flex-1 flex-col">
      <div className="flex min-h-10 flex-none items-center gap-3 border-b border-line px-5 py-1.5 max-tablet:px-4">
        <h3 className="text-body whitespace-nowrap">For reference</h3>
        {all.length > 1 ? (
          <Select aria-label="Which output" value={String(at)} onChange={(event) => setAt(Number(event.target.value))} options={all.map((one, index) => ({ value: String(index), label: `${one.from}: ${fileName(one.artifact)}` }))} />
        ) : (
          <span className="truncate text-small text-ink-3">{chosen.from}</span>
        )}
      </div>
      <ArtifactPreview key={chosen.artifact.artifact_record_id} artifact={{ ...chosen.artifact, file_name: fileName(chosen.artifact) }} meta={chosen.artifact.run_version == null ? undefined : <Tag>v{chosen.artifact.run_version}</Tag>} />
    </section>
  );
}
