/** Where an output came from, as far back as is recorded. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useExecution } from '@/api/hooks/executions';
import type { Artifact } from '@/api/types';
import { bytes, digest } from '@/model/figures';
import { Copy } from '@/ui/CopyAs';
import { Money, Time } from '@/ui/values';

const WORK: Record<string, string> = { human_only: 'a person', script: 'a script', agentic: 'agents' };

export function Origin({ it, pipeline, children }: { it: Artifact; pipeline: string | undefined; children?: ReactNode }) {
  const execution = useExecution(it.execution_id).data;
  const given = execution?.inputs.referenced_outputs ?? [];
  return (
    <section aria-label="Where it came from" className="flex flex-col gap-3 p-5 max-tablet:p-4">
      <h2>Where it came from</h2>
      {children}
      <dl className="flex flex-col gap-2">
        <Line name="Pipeline">
          {it.pipeline_id ? (
            <Link to="/pipelines/$pipelineId" params={{ pipelineId: it.pipeline_id }} className="inline-flex min-h-6 items-center underline underline-offset-2">
              {pipeline ?? it.pipeline_id}
            </Link>
          ) : (
            pipeline
          )}
        </Line>
        <Line name="Run">
          <Link to="/runs/$runId" params={{ runId: it.run_id }} className="inline-flex min-h-6 items-center underline underline-offset-2">
            v{it.run_version}
          </Link>
        </Line>
        <Line name="Checkpoint">
          <Link to="/runs/$runId" params={{ runId: it.run_id }} search={{ execution: it.execution_id }} className="inline-flex min-h-6 items-center underline underline-offset-2">
            {it.checkpoint_name ?? 'unnamed'}
          </Link>
          {execution?.mode && `, by ${WORK[execution.mode] ?? execution.mode}`}
        </Line>
        <Line name="Revision and try">
          revision {it.revision_iteration + 1}, try {it.attempt_number}
          {!it.current && ', replaced by a later one'}
        </Line>
        <Line name="Made">
          <Time at={it.created_at} as="moment" />
        </Line>
        <Line name="Promoted">{it.promoted_to_permanent_at ? <Time at={it.promoted_to_permanent_at} as="moment" /> : 'not yet: the checkpoint is not completed'}</Line>
        {execution && execution.usage.calls > 0 && (
          <Line name="Cost of the checkpoint">
            <Money usd={execution.usage.cost_usd} />
          </Line>
        )}
        {given.length > 0 && <Line name="Was given">{given.map((one) => `outputs of ${one.checkpoint_name ?? 'a checkpoint'}`).join(', ')}</Line>}
        {execution?.definition_digest && (
          <Line name="Definition">
            <Digest text={execution.definition_digest} what="definition" />
          </Line>
        )}
        <Line name="Content">
          <Digest text={it.checksum} what="content" />
          <span className="text-small text-ink-3">{bytes(it.size_bytes)}</span>
        </Line>
        <Line name="File">
          <span className="fact [overflow-wrap:anywhere]">{it.file_path}</span>
        </Line>
        <Line name="Execution">
          <span className="fact [overflow-wrap:anywhere]">{it.execution_id}</span>
        </Line>
      </dl>
    </section>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="label">{name}</dt>
      <dd className="text-small">{children}</dd>
    </div>
  );
}

function Digest({ text, what }: { text: string; what: string }) {
  return (
    <span className="flex items-center gap-1">
      <span className="fact" title={text}>
        {digest(text)}
      </span>
      <Copy text={text} label={`Copy the digest of the ${what}`} />
    </span>
  );
}
