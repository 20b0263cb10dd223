/** The form as the person will see it, with the server's word about what is filled in. */
import { type FormEvent, useState } from 'react';
import { isObject, listAt, type Loose, textAt } from '@/model/definition';
import { Button } from '@/ui/Button';
import { Field, Input, Select, TextArea } from '@/ui/fields';
import { useOffline } from '@/ui/HintBar';
import { StatusMark } from '@/ui/Icon';
import { Dialog } from '@/ui/overlays';
import { ErrorBlock } from '@/ui/states';
import { useEditing } from './context';
import { useTrial } from './useTrial';

export function TryForm({ onClose }: { onClose: () => void }) {
  const { definition, off } = useEditing();
  const offline = useOffline();
  const fields = listAt(definition, '/execution/human_only_config/input_fields').filter(isObject);
  const [values, setValues] = useState<Record<string, string>>(() => Object.fromEntries(fields.map((field) => [textAt(field, '/name'), field.default === undefined ? '' : String(field.default)])));
  const trial = useTrial();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (trial.isPending || off || offline) return;
    trial.mutate({ definition, values: Object.fromEntries(fields.filter((field) => field.type !== 'file').map((field) => [textAt(field, '/name'), valueOf(field, values[textAt(field, '/name')] ?? '')])) });
  };
  const tried = trial.data;
  const missing = (field: Loose) => (field.required === true && field.type !== 'file' && (values[textAt(field, '/name')] ?? '') === '' ? 'Must be filled in.' : undefined);
  return (
    <Dialog open onClose={onClose} title="Try the form" about={textAt(definition, '/execution/human_only_config/instructions') || 'It has no instructions yet.'}>
      <form onSubmit={submit} noValidate className="flex flex-col gap-3">
        {fields.map((field, at) => {
          const name = textAt(field, '/name');
          const value = values[name] ?? '';
          const change = (next: string) => {
            setValues((now) => ({ ...now, [name]: next }));
            trial.reset();
          };
          return (
            <Field key={at} label={textAt(field, '/label') || name} required={field.required === true} error={tried ? tried.wrong[name] : undefined} help={tried ? undefined : missing(field)}>
              {field.type === 'multiline_text' ? (
                <TextArea value={value} onChange={(event) => change(event.target.value)} />
              ) : field.type === 'boolean' ? (
                <Select value={value} onChange={(event) => change(event.target.value)} options={[{ value: '', label: 'Not answered' }, { value: 'true', label: 'Yes' }, { value: 'false', label: 'No' }]} />
              ) : field.type === 'file' ? (
                <p className="text-small text-ink-3">A file is asked for. It is left out of the trial.</p>
              ) : (
                <Input type={field.type === 'number' ? 'number' : 'text'} step="any" value={value} onChange={(event) => change(event.target.value)} />
              )}
            </Field>
          );
        })}
        <div aria-live="polite">
          {tried?.kept && (
            <p className="flex items-center gap-2 text-done">
              <StatusMark icon="passed" /> The server takes these answers.
            </p>
          )}
          {tried?.problem && Object.keys(tried.wrong).length === 0 && <ErrorBlock title="The form was not tried" problem={tried.problem} />}
          {trial.error && <ErrorBlock title="The form was not tried" problem={trial.error} />}
        </div>
        <p className="text-small text-ink-3">Nothing is kept of what is filled in here.</p>
        <div className="flex justify-end gap-2">
          <Button kind="quiet" onClick={onClose} hint="escape">
            Close
          </Button>
          <Button type="submit" kind="primary" busy={trial.isPending} off={offline ?? (off ? 'This needs admin.' : undefined)} offAt="below">
            Ask the server
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function valueOf(field: Loose, text: string): unknown {
  if (text === '') return undefined;
  if (field.type === 'number') return Number(text);
  return field.type === 'boolean' ? text === 'true' : text;
}
