/** Chooses a side: a pipeline's run, one of its checkpoints, one of the tries there. */
import { useState } from 'react';
import { useAttempts } from '@/api/hooks/executions';
import { usePipelines } from '@/api/hooks/pipelines';
import { useRunCheckpoints, useRuns } from '@/api/hooks/runs';
import { parseSide } from '@/model/compare';
import { Field, Select } from '@/ui/fields';
import { ErrorBlock } from '@/ui/states';
import { useSide } from './useSide';

interface Props {
  name: string;
  address: string | undefined;
  /** Where nothing is chosen yet, the other side's pipeline is the likely one. */
  likely: string | undefined;
  onChange: (address: string | undefined) => void;
}

export function Picker({ name, address, likely, onChange }: Props) {
  const side = useSide(address);
  const parsed = parseSide(address);
  const [wish, setWish] = useState<string>();
  const pipelines = usePipelines().data?.pages.flatMap((page) => page.items) ?? [];
  const pipeline = wish ?? side.data?.pipeline ?? likely ?? '';
  const runs = useRuns(pipeline ? { pipeline } : {}).data?.pages.flatMap((page) => page.items) ?? [];
  const run = wish ? '' : (side.data?.run ?? '');
  const executions = useRunCheckpoints(run || undefined).data?.items ?? [];
  const execution = wish ? '' : (side.data?.execution ?? '');
  const attempts = useAttempts(execution || undefined).data?.items ?? [];
  const attempt = parsed?.revision === undefined ? '' : `${parsed.revision}.${parsed.attempt}`;
  const choose = (next: string | undefined) => {
    setWish(undefined);
    onChange(next);
  };
  return (
    <fieldset className="min-w-0 flex-1">
      <legend className="label mb-1">{name}</legend>
      <div className="grid grid-cols-2 gap-2 wide:grid-cols-4">
        <Field label="Pipeline">
          <Select value={pipeline} onChange={(event) => setWish(event.target.value)} options={[...(pipeline ? [] : [{ value: '', label: 'Choose' }]), ...pipelines.map((one) => ({ value: one.pipeline_id, label: one.pipeline_name }))]} />
        </Field>
        <Field label="Run">
          <Select value={run} onChange={(event) => choose(event.target.value || undefined)} options={[{ value: '', label: 'Choose' }, ...(pipeline ? runs : []).map((one) => ({ value: one.run_id, label: `v${one.run_version ?? '?'}` }))]} />
        </Field>
        <Field label="Checkpoint">
          <Select value={execution} disabled={!run} onChange={(event) => choose(event.target.value || run)} options={[{ value: '', label: 'The whole run' }, ...executions.map((one) => ({ value: one.execution_id, label: one.checkpoint_name ?? `Checkpoint ${one.checkpoint_position + 1}` }))]} />
        </Field>
        <Field label="Revision and try">
          <Select
            value={attempt}
            disabled={!execution}
            onChange={(event) => choose(event.target.value ? `${execution}@${event.target.value}` : execution)}
            options={[{ value: '', label: 'As it stands' }, ...attempts.map((one) => ({ value: `${one.revision_iteration}.${one.attempt_number}`, label: `Revision ${one.revision_iteration + 1}, try ${one.attempt_number}` }))]}
          />
        </Field>
      </div>
      {side.error && <ErrorBlock className="mt-2" title={`${name} could not be found`} problem={side.error} />}
    </fieldset>
  );
}
