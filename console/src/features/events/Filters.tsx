/** The filter as chips: each opens its field, and is taken off with its cross. The address keeps them all. */
import { type ReactNode, useState } from 'react';
import type { EventFilter } from '@/api/hooks/events';
import { usePipelines } from '@/api/hooks/pipelines';
import { useRuns } from '@/api/hooks/runs';
import { fromLocal, type Range, RANGES, toLocal, TYPES } from '@/model/events';
import { moment } from '@/model/time';
import { Button } from '@/ui/Button';
import { Field, Input, Select } from '@/ui/fields';
import { Icon } from '@/ui/Icon';
import { Popover } from '@/ui/overlays';

interface Props {
  filter: EventFilter;
  onChange: (change: EventFilter) => void;
  onClear: () => void;
  /** Names that were seen in what is loaded. */
  actors: readonly string[];
}

export function Filters({ filter, onChange, onClear, actors }: Props) {
  const pipelines = usePipelines().data?.pages.flatMap((page) => page.items) ?? [];
  const runs = useRuns(filter.pipeline_id ? { pipeline: filter.pipeline_id } : {}).data?.pages.flatMap((page) => page.items) ?? [];
  const run = runs.find((one) => one.run_id === filter.run_id);
  const types = filter.event_type?.split(',') ?? [];
  const any = Object.values(filter).some((value) => value !== undefined);
  return (
    <div role="group" aria-label="Filter" className="scroll-pane flex flex-none items-center gap-2 overflow-y-hidden border-b border-line px-5 py-2 max-tablet:px-4">
      <Chip name="Type" value={types.length === 0 ? undefined : types.length === 1 ? types[0] : `${types.length} types`} onOff={() => onChange({ event_type: undefined })}>
        <Types chosen={types} onChange={(next) => onChange({ event_type: next.length > 0 ? next.join(',') : undefined })} />
      </Chip>
      <Chip name="Pipeline" value={filter.pipeline_id && (pipelines.find((one) => one.pipeline_id === filter.pipeline_id)?.pipeline_name ?? filter.pipeline_id.slice(0, 8))} onOff={() => onChange({ pipeline_id: undefined })}>
        <Field label="Pipeline">
          <Select value={filter.pipeline_id ?? ''} onChange={(event) => onChange({ pipeline_id: event.target.value || undefined, run_id: undefined })} options={[{ value: '', label: 'Any' }, ...pipelines.map((one) => ({ value: one.pipeline_id, label: one.pipeline_name }))]} />
        </Field>
      </Chip>
      <Chip name="Run" value={filter.run_id && (run ? `${run.pipeline_name ?? ''} v${run.run_version ?? '?'}` : filter.run_id.slice(0, 8))} onOff={() => onChange({ run_id: undefined })}>
        <div className="flex w-72 max-w-full flex-col gap-3">
          <Field label="Run">
            <Select value={run ? run.run_id : ''} onChange={(event) => onChange({ run_id: event.target.value || undefined })} options={[{ value: '', label: 'Any' }, ...runs.map((one) => ({ value: one.run_id, label: `${one.pipeline_name ?? 'Run'} v${one.run_version ?? '?'}` }))]} />
          </Field>
          <Written label="Or its id" value={filter.run_id} onSet={(run_id) => onChange({ run_id })} />
        </div>
      </Chip>
      <Chip name="Execution" value={filter.execution_id?.slice(0, 8)} onOff={() => onChange({ execution_id: undefined })}>
        <Written label="Execution id" value={filter.execution_id} onSet={(execution_id) => onChange({ execution_id })} />
      </Chip>
      <Chip name="Actor" value={filter.actor} onOff={() => onChange({ actor: undefined })}>
        <div className="flex w-64 max-w-full flex-col gap-3">
          <Field label="Seen here">
            <Select value={actors.includes(filter.actor ?? '') ? filter.actor : ''} onChange={(event) => onChange({ actor: event.target.value || undefined })} options={[{ value: '', label: 'Any' }, ...actors.map((name) => ({ value: name, label: name }))]} />
          </Field>
          <Written label="Or a name" value={filter.actor} onSet={(actor) => onChange({ actor })} plain />
        </div>
      </Chip>
      <Chip name="Time" value={time(filter)} onOff={() => onChange({ since: undefined, until: undefined })}>
        <Times filter={filter} onChange={onChange} />
      </Chip>
      {any && (
        <Button kind="quiet" size="small" keys="c" word="clear filter" onClick={onClear}>
          Clear
        </Button>
      )}
    </div>
  );
}

const time = ({ since, until }: EventFilter) => (since && until ? `${moment(since)} to ${moment(until)}` : since ? `since ${moment(since)}` : until ? `before ${moment(until)}` : undefined);

function Chip({ name, value, onOff, children }: { name: string; value: string | undefined; onOff: () => void; children: ReactNode }) {
  return (
    <span className="inline-flex flex-none items-center rounded-2 border border-line-2 bg-raised">
      <Popover
        label={name}
        trigger={
          <button type="button" className="inline-flex h-[26px] items-center gap-1.5 rounded-2 px-2 text-small hover:bg-hover max-tablet:h-11">
            <span className={value ? 'text-ink-3' : 'text-ink-2'}>{name}</span>
            {value ? <span className="max-w-[220px] truncate font-name">{value}</span> : <Icon name="down" size={14} className="text-ink-3" />}
          </button>
        }
      >
        {children}
      </Popover>
      {value && (
        <button type="button" onClick={onOff} aria-label={`Any ${name.toLowerCase()}`} className="grid h-[26px] w-6 place-items-center rounded-2 text-ink-3 hover:text-ink max-tablet:size-11">
          <Icon name="close" size={14} />
        </button>
      )}
    </span>
  );
}

function Types({ chosen, onChange }: { chosen: readonly string[]; onChange: (types: string[]) => void }) {
  return (
    <div className="scroll-pane max-h-[60dvh] w-60 max-w-full">
      {Object.entries(TYPES).map(([group, types]) => (
        <fieldset key={group} className="mb-2">
          <legend className="label">{group}</legend>
          {types.map((type) => (
            <label key={type} className="flex min-h-6 items-center gap-2 max-tablet:min-h-11">
              <input type="checkbox" className="accent-ink" checked={chosen.includes(type)} onChange={(event) => onChange(event.target.checked ? [...chosen, type] : chosen.filter((one) => one !== type))} />
              <span className="fact">{type}</span>
            </label>
          ))}
        </fieldset>
      ))}
    </div>
  );
}

function Written({ label, value, onSet, plain = false }: { label: string; value: string | undefined; onSet: (value: string | undefined) => void; plain?: boolean }) {
  const [text, setText] = useState(value ?? '');
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onSet(text.trim() || undefined);
      }}
    >
      <Field label={label} className="flex-1">
        <Input mono={!plain} value={text} onChange={(event) => setText(event.target.value)} />
      </Field>
      <Button type="submit">Set</Button>
    </form>
  );
}

const back = ({ hours }: Range) => new Date(Date.now() - hours * 3_600_000).toISOString();

function Times({ filter, onChange }: { filter: EventFilter; onChange: (change: EventFilter) => void }) {
  return (
    <div className="flex w-64 max-w-full flex-col gap-3">
      <div className="flex flex-wrap gap-2">
        {RANGES.map((range) => (
          <Button key={range.value} size="small" onClick={() => onChange({ since: back(range), until: undefined })}>
            {range.label}
          </Button>
        ))}
      </div>
      <Field label="Not before">
        <Input type="datetime-local" value={toLocal(filter.since)} onChange={(event) => onChange({ since: fromLocal(event.target.value) })} />
      </Field>
      <Field label="Before">
        <Input type="datetime-local" value={toLocal(filter.until)} onChange={(event) => onChange({ until: fromLocal(event.target.value) })} />
      </Field>
    </div>
  );
}
