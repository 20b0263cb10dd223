/** What checkpoints of every mode have: inputs, instructions, outputs, checks, holds, and what happens when it fails. */
import { useState } from 'react';
import { type Draft, isObject, type Json, listAt, type Loose, look, modeOf, nameOf, type Part, renamedArtifact, textAt } from '@/model/definition';
import { inValidation } from '@/model/definition-made';
import { aboutArtifact, CONTENT_FORMATS, FORMATS, ON_FAILURE, ON_INVALID, PREVIOUS_POINTS, REFERENCE_POINTS, STRICTNESS, VALIDATION } from '@/model/definition-words';
import { Tag } from '@/ui/Badge';
import { Button } from '@/ui/Button';
import { Select, Switch } from '@/ui/fields';
import { Icon } from '@/ui/Icon';
import { Chips } from './Chips';
import { useAt, useEditing } from './context';
import { AreaLine, ChoiceLine, Group, GroupLine, InlineSwitch, JsonLine, MaybeLine, NumberLine, SelectLine, SwitchLine, TextLine } from './parts';
import { Rows } from './Rows';

/** The outputs of a checkpoint that another one can name: those it declares, and the form's own. */
function outputsOf(part: Part | undefined): { value: string; label: string }[] {
  const declared = listAt(part?.definition, '/output/artifacts').filter(isObject);
  return declared.map((one) => ({ value: textAt(one, '/artifact_id') || textAt(one, '/name'), label: textAt(one, '/name') }));
}

export function Inputs() {
  const { draft, part, definition, set, off } = useEditing();
  const place = draft.parts.findIndex((one) => one.key === part?.key);
  const earlier = draft.parts.slice(0, place);
  const others = draft.parts.filter((one) => one.key !== part?.key);
  const at = '/inputs/include_checkpoint_outputs';
  const references = listAt(definition, at).filter(isObject);
  const free = earlier.filter((one) => !references.some((reference) => reference.checkpoint_id === one.key));
  const needs = listAt(definition, '/dependencies/required_checkpoint_ids').map(String);
  const named = others.map((one) => ({ value: one.key, label: nameOf(one) || 'No name' }));
  return (
    <Group title="Is given">
      <SwitchLine at="/inputs/include_previous_version" label="Last run" help="What this checkpoint made in the run before." />
      <GroupLine at={at} label="Earlier outputs">
        {references.map((reference, index) => (
          <Reference key={`${String(reference.checkpoint_id)}-${index}`} at={`${at}/${index}`} earlier={earlier} all={draft.parts} onRemove={() => set(at, references.filter((_, other) => other !== index) as Json[])} />
        ))}
        {references.length === 0 && <p className="py-[5px] text-small text-ink-3">{earlier.length === 0 ? 'It is the first checkpoint, so there are none.' : 'None: it reads nothing of this run.'}</p>}
        {!off && free.length > 0 && (
          <Button size="small" icon="plus" onClick={() => set(at, [...references, { checkpoint_id: free.at(-1)?.key, use_summarization: false }] as Json[])}>
            Read an earlier checkpoint
          </Button>
        )}
      </GroupLine>
      {(others.length > 0 || needs.length > 0) && (
        <GroupLine at="/dependencies/required_checkpoint_ids" label="Starts only after">
          <div className="flex flex-wrap gap-2">
            <Needs chosen={needs} known={named} off={off} onChange={(next) => set('/dependencies/required_checkpoint_ids', next)} />
          </div>
        </GroupLine>
      )}
    </Group>
  );
}

function Needs({ chosen, known, off, onChange }: { chosen: string[]; known: { value: string; label: string }[]; off: boolean; onChange: (next: string[]) => void }) {
  return known.map(({ value, label }) => (
    <label key={value} className="inline-flex h-[26px] items-center gap-1.5 text-small">
      <input type="checkbox" disabled={off} checked={chosen.includes(value)} onChange={(event) => onChange(event.target.checked ? [...chosen, value] : chosen.filter((one) => one !== value))} className="size-[15px] accent-ink" />
      {label}
    </label>
  ));
}

function Reference({ at, earlier, all, onRemove }: { at: string; earlier: readonly Part[]; all: readonly Part[]; onRemove: () => void }) {
  const { value, fault, focus, off } = useAt(at);
  const { set } = useEditing();
  const target = useAt(`${at}/checkpoint_id`);
  const reference = isObject(value) ? value : {};
  const other = all.find((part) => part.key === reference.checkpoint_id);
  const outputs = outputsOf(other);
  const chosen = Array.isArray(reference.artifact_ids) ? reference.artifact_ids.map(String) : undefined;
  const options = (earlier.some((part) => part.key === reference.checkpoint_id) || !other ? earlier : [...earlier, other]).map((part) => ({ value: part.key, label: nameOf(part) || 'No name' }));
  const toggle = (id: string, on: boolean) => {
    const now = chosen ?? outputs.map((one) => one.value);
    const next = on ? [...now, id] : now.filter((one) => one !== id);
    set(`${at}/artifact_ids`, next.length === outputs.length || next.length === 0 ? undefined : next);
  };
  const wrong = target.fault ?? fault;
  return (
    <div data-at={at} onFocusCapture={focus} className="mb-2 rounded-2 border border-line bg-raised px-2 py-2">
      <div className="flex items-center gap-2">
        <Select
          aria-label="Checkpoint"
          disabled={off}
          options={options}
          value={String(reference.checkpoint_id ?? '')}
          onChange={(event) => set(at, { checkpoint_id: event.target.value, use_summarization: reference.use_summarization ?? false })}
        />
        {!off && <Button kind="quiet" icon="close" label="Read it no more" onClick={onRemove} />}
      </div>
      <div className="mt-1.5 flex flex-wrap items-center gap-x-4 gap-y-1 text-small">
        {outputs.map((one) => (
          <label key={one.value} className="inline-flex items-center gap-1.5">
            <input type="checkbox" disabled={off} checked={chosen === undefined || chosen.includes(one.value)} onChange={(event) => toggle(one.value, event.target.checked)} className="size-[15px] accent-ink" />
            {one.label}
          </label>
        ))}
        {outputs.length === 0 && <span className="text-ink-3">All that it makes</span>}
        <Switch checked={reference.use_summarization === true} disabled={off} onChange={(on) => set(`${at}/use_summarization`, on)} label="A summary will do" />
      </div>
      {wrong && <p className="mt-1 text-small text-fail">{wrong}</p>}
    </div>
  );
}

export function Task() {
  const { part } = useEditing();
  const person = part !== undefined && modeOf(part) === 'human_only';
  if (person) return null;
  return <AreaLine at="/instructions/task_prompt" label="Task" rows={4} help="What is to be done. Stands under YOUR TASK." />;
}

export function Instructions() {
  const { definition, part, set, off } = useEditing();
  const person = part !== undefined && modeOf(part) === 'human_only';
  if (person && !isObject(definition.instructions)) return null;
  const examples = listAt(definition, '/instructions/examples').filter(isObject);
  return (
    <Group title="Is told">
      <AreaLine at="/instructions/system_prompt" label="System prompt" maybe />
      <SelectLine at="/instructions/injection_points/previous_version_context" label="Last run stands" options={PREVIOUS_POINTS} />
      <SelectLine at="/instructions/injection_points/checkpoint_references" label="Outputs stand" options={REFERENCE_POINTS} />
      <ChoiceLine at="/instructions/injection_format/content_format" label="Written as" options={CONTENT_FORMATS} of="markdown" />
      <SwitchLine at="/instructions/injection_format/include_file_paths" label="With paths" of />
      <SwitchLine at="/instructions/injection_format/include_file_contents" label="With contents" of />
      <GroupLine at="/instructions/examples" label="Examples">
        {examples.map((_, index) => (
          <div key={index} className="mb-2 rounded-2 border border-line px-2 pt-2">
            <JsonLine at={`/instructions/examples/${index}/input`} label="Given" height={74} />
            <JsonLine at={`/instructions/examples/${index}/output`} label="Wanted" height={74} />
            {!off && (
              <Button kind="danger" size="small" icon="trash" className="mb-2" onClick={() => set('/instructions/examples', examples.filter((__, other) => other !== index) as Json[])}>
                Remove example {index + 1}
              </Button>
            )}
          </div>
        ))}
        {!off && (
          <Button size="small" icon="plus" onClick={() => set('/instructions/examples', [...examples, { input: {}, output: {} }] as Json[])}>
            Add an example
          </Button>
        )}
      </GroupLine>
    </Group>
  );
}

export function Makes({ onRename }: { onRename: (next: (draft: Draft) => Draft) => void }) {
  const { definition, part } = useEditing();
  return (
    <Group title="Makes">
      <GroupLine at="/output" label="Outputs">
        <Rows at="/output/artifacts" what="output" empty="Nothing is declared. What is declared must come out, or the try has failed." make={(count) => ({ name: `output_${count + 1}`, format: 'md' })} row={artifactRow}>
          {(at, item) => <Artifact at={at} item={item} onName={(from, to) => part && onRename((draft) => renamedArtifact(draft, part.key, from, to))} />}
        </Rows>
      </GroupLine>
      <Checks on={look(definition, '/output/validation/enabled') === true} />
    </Group>
  );
}

const artifactRow = (artifact: Loose) => (
  <>
    <Icon name="file" size={14} className="flex-none text-ink-3" />
    <span className="max-w-[45%] truncate font-name">{textAt(artifact, '/name') || 'No name'}</span>
    <Tag>{textAt(artifact, '/format')}</Tag>
    <span className="truncate text-small text-ink-3">{aboutArtifact(artifact)}</span>
  </>
);

function Artifact({ at, item, onName }: { at: string; item: Loose; onName: (from: string, to: string) => void }) {
  const [from, setFrom] = useState('');
  const name = textAt(item, '/name');
  return (
    <>
      <div
        // What is known by name alone is followed when it gets another one.
        onFocusCapture={() => setFrom(name)}
        onBlurCapture={() => item.artifact_id === undefined && from !== '' && from !== name && onName(from, name)}
        className="grid gap-x-3 tablet:grid-cols-[1fr_120px]"
      >
        <TextLine above at={`${at}/name`} label="Name" mono />
        <SelectLine above at={`${at}/format`} label="Format" options={FORMATS} />
      </div>
      <MaybeLine at={`${at}/description`} label="Description" />
      {item.format === 'json' && <JsonLine at={`${at}/schema`} label="JSON Schema" objects height={170} help='Such as {"type": "object", "properties": {…}, "required": […]}.' />}
    </>
  );
}

function Checks({ on }: { on: boolean }) {
  const { definition, change } = useEditing();
  const at = '/output/validation';
  const mode = textAt(definition, `${at}/validation_mode`);
  const alter = (changes: Loose) =>
    change(at, (now) => {
      const output = isObject(now.output) ? now.output : {};
      return { ...now, output: { ...output, validation: inValidation(isObject(output.validation) ? output.validation : {}, changes) } };
    });
  return (
    <>
      <SwitchLine at={`${at}/enabled`} label="Check it" help="Format and schema first, which cost nothing; then a model." onChange={(next) => alter({ enabled: next })} />
      {on && (
        <>
          <ChoiceLine at={`${at}/validation_mode`} label="How" options={VALIDATION} onChange={(next) => alter({ validation_mode: next })} />
          {mode !== 'llm_custom' && <ChoiceLine at={`${at}/schema_validation_strictness`} label="Schema" options={STRICTNESS} />}
          {mode !== 'llm_schema' && <AreaLine at={`${at}/custom_validation_prompt`} label="Question" help="What a model is asked about the outputs." />}
          <SelectLine at={`${at}/on_validation_failure`} label="If it fails" options={ON_INVALID} />
          <NumberLine at={`${at}/max_validation_retries`} label="Times, at most" />
        </>
      )}
    </>
  );
}

export function Holds() {
  const { definition, set, off } = useEditing();
  const at = '/human_interaction';
  const completes = look(definition, `${at}/requires_approval_to_complete`) === true;
  const asks = completes || look(definition, `${at}/requires_approval_to_start`) === true;
  const approvers = listAt(definition, `${at}/approvers`).map(String);
  return (
    <Group title="Hold">
      <GroupLine at={at} label="Somebody looks">
        <div className="flex min-h-[30px] flex-wrap items-center gap-4">
          <InlineSwitch at={`${at}/requires_approval_to_start`} label="before it starts" />
          <InlineSwitch at={`${at}/requires_approval_to_complete`} label="before it counts as done" />
        </div>
      </GroupLine>
      <NumberLine at={`${at}/max_revision_iterations`} label="Revisions" help={completes ? 'How often it may be sent back. After that it has failed.' : 'Counts when somebody looks before it counts as done.'} />
      {(asks || approvers.length > 0) && (
        <>
          <GroupLine at={`${at}/approvers`} label="Who may answer" help={approvers.length === 0 ? 'Everybody whose role allows it.' : undefined}>
            <Chips label="Who may answer" chosen={approvers} known={[]} off={off} own="a name" onChange={(next) => set(`${at}/approvers`, next.length === 0 ? undefined : next)} />
          </GroupLine>
          <Approvals at={`${at}/required_approvals`} />
        </>
      )}
    </Group>
  );
}

function Approvals({ at }: { at: string }) {
  return <NumberLine at={at} label="Approvals needed" help="1 where nothing is said. With more, nobody approves what they asked for." />;
}

export function Failing() {
  const { definition, part, set, change, off } = useEditing();
  const person = part !== undefined && modeOf(part) === 'human_only';
  const timeout = look(definition, '/execution/timeout_config/enabled') === true;
  const budget = isObject(look(definition, '/execution/budget'));
  return (
    <Group title="When it fails, and how long it may take">
      <NumberLine at="/execution/retry_config/max_auto_retries" label="Tries again" unit="times, 0 to 5" />
      <NumberLine at="/execution/retry_config/retry_delay_seconds" label="After" unit="seconds" />
      <SelectLine at="/execution/retry_config/on_failure" label="Then" options={ON_FAILURE} />
      <SwitchLine
        at="/execution/timeout_config/enabled"
        label="Time limit"
        onChange={(on) => set('/execution/timeout_config', on ? { enabled: true, timeout_minutes: 30, on_timeout: 'pause_pipeline' } : { enabled: false })}
      />
      {timeout && (
        <>
          <NumberLine at="/execution/timeout_config/timeout_minutes" label="At most" unit="minutes" />
          <SelectLine at="/execution/timeout_config/on_timeout" label="Then" options={ON_FAILURE} />
        </>
      )}
      {!person && (
        <GroupLine at="/execution/budget" label="Budget" help={budget ? undefined : 'No limit of its own.'}>
          <div className="flex h-[30px] items-center">
            <Switch
              checked={budget}
              disabled={off}
              label="Ask before more is spent"
              onChange={(on) => change('/execution/budget', (now) => ({ ...now, execution: { ...(now.execution as Loose), budget: on ? { cost_usd: 1 } : undefined } }))}
            />
          </div>
        </GroupLine>
      )}
      {!person && budget && <Budget at="/execution/budget" />}
      {!person && <SwitchLine at="/execution/network" label="Network" help="Whether the script, or the code of agents, reaches the network." onChange={(on) => set('/execution/network', on || undefined)} />}
    </Group>
  );
}

/** Tokens, dollars and minutes; what is left out has no limit. */
export function Budget({ at }: { at: string }) {
  return (
    <>
      <NumberLine at={`${at}/cost_usd`} label="Dollars" step="any" />
      <NumberLine at={`${at}/tokens`} label="Tokens" />
      <NumberLine at={`${at}/minutes`} label="Minutes" step="any" unit="of work; waiting does not count" />
    </>
  );
}
