/** Work that a person does: what they are told, the fields of the form, and what the answers become. */
import { useState } from 'react';
import { type Json, listAt, type Loose, look, textAt } from '@/model/definition';
import { FIELD_TYPES } from '@/model/definition-words';
import { Tag } from '@/ui/Badge';
import { Button } from '@/ui/Button';
import { Field, Input, Select } from '@/ui/fields';
import { Icon } from '@/ui/Icon';
import { useAt, useEditing } from './context';
import { AreaLine, ChoiceLine, Group, GroupLine, InlineSwitch, MaybeLine, SelectLine, SwitchLine, TextLine } from './parts';
import { Rows } from './Rows';
import { TryForm } from './TryForm';

const BASE = '/execution/human_only_config';

export function FormFields() {
  const { definition, change } = useEditing();
  const [trying, setTrying] = useState(false);
  const saves = look(definition, `${BASE}/save_as_artifact`) === true;
  return (
    <>
      <Group title="Form">
        <AreaLine at={`${BASE}/instructions`} label="Instructions" help="What the person reads above the form." />
        <GroupLine at={`${BASE}/fields`} label="Fields">
          <Rows at={`${BASE}/input_fields`} what="field" empty="A form without fields asks for a word that it was done." make={newField} row={fieldRow}>
            {(at) => <OneField at={at} />}
          </Rows>
          {listAt(definition, `${BASE}/input_fields`).length > 0 && (
            <Button size="small" kind="quiet" className="mt-2" onClick={() => setTrying(true)}>
              Try the form
            </Button>
          )}
        </GroupLine>
        <SwitchLine
          at={`${BASE}/save_as_artifact`}
          label="Keep answers"
          help="As an output that later checkpoints can read."
          onChange={(on) =>
            change(`${BASE}/save_as_artifact`, (now) => {
              const execution = now.execution as Loose;
              const { artifact_name: name, artifact_format: format, ...config } = (execution.human_only_config ?? {}) as Loose;
              const kept = on ? { artifact_name: name ?? 'answers', artifact_format: format ?? 'json' } : {};
              return { ...now, execution: { ...execution, human_only_config: { ...config, save_as_artifact: on, ...kept } } };
            })
          }
        />
        {saves && (
          <>
            <TextLine at={`${BASE}/artifact_name`} label="Output" mono />
            <ChoiceLine at={`${BASE}/artifact_format`} label="Format" options={[{ value: 'json', label: 'JSON' }, { value: 'md', label: 'Markdown' }]} />
          </>
        )}
      </Group>
      {trying && <TryForm onClose={() => setTrying(false)} />}
    </>
  );
}

function OneField({ at }: { at: string }) {
  const { definition, set } = useEditing();
  const kind = textAt(definition, `${at}/type`);
  return (
    <>
      <div className="grid gap-x-3 tablet:grid-cols-2">
        <TextLine above at={`${at}/label`} label="Label" />
        <TextLine above at={`${at}/name`} label="Name" mono />
        <SelectLine above at={`${at}/type`} label="Type" options={FIELD_TYPES} />
        {kind !== 'file' && <Default at={`${at}/default`} kind={kind} />}
      </div>
      <div className="mb-[9px]">
        <InlineSwitch at={`${at}/required`} label="Must be filled in" />
      </div>
      {kind !== 'file' && <MaybeLine at={`${at}/validation`} label="Rule" mono placeholder="value > 0 && value <= 52" help="JavaScript over value, or /a pattern/." />}
      {kind === 'file' && look(definition, `${at}/validation`) !== undefined && (
        <Button size="small" onClick={() => set(`${at}/validation`, undefined)}>
          Take the rule away: a file is not looked into
        </Button>
      )}
    </>
  );
}

/** What stands in the field at first, as a value of its type. */
function Default({ at, kind }: { at: string; kind: string }) {
  const { value, set, fault, focus, off } = useAt(at);
  const read = (text: string): Json | undefined => (text === '' ? undefined : kind === 'number' ? Number(text) : text);
  return (
    <div data-at={at} onFocusCapture={focus} className="mb-[9px]">
      <Field label="Stands there at first" error={fault}>
        {kind === 'boolean' ? (
          <Select
            disabled={off}
            options={[{ value: '', label: 'Nothing' }, { value: 'true', label: 'Yes' }, { value: 'false', label: 'No' }]}
            value={typeof value === 'boolean' ? String(value) : ''}
            onChange={(event) => set(event.target.value === '' ? undefined : event.target.value === 'true')}
          />
        ) : (
          <Input disabled={off} type={kind === 'number' ? 'number' : 'text'} step="any" value={typeof value === 'string' || typeof value === 'number' ? value : ''} onChange={(event) => set(read(event.target.value))} />
        )}
      </Field>
    </div>
  );
}

const newField = (count: number): Loose => ({ name: `field_${count + 1}`, type: 'text', label: `Field ${count + 1}`, required: true });

const fieldRow = (field: Loose) => (
  <>
    <span className="truncate font-name">{textAt(field, '/label') || 'No label'}</span>
    <Tag>{textAt(field, '/name')}</Tag>
    <span className="truncate text-small text-ink-3">
      {FIELD_TYPES.find((one) => one.value === field.type)?.label.toLowerCase()}
      {field.required === true && ', must be filled in'}
    </span>
    {typeof field.validation === 'string' && field.validation !== '' && <Icon name="tool" size={12} className="flex-none text-ink-3" />}
  </>
);
