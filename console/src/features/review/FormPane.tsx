/** The form to fill in, with what is wrong beside each field. */
import { type FormEvent, useEffect, useRef } from 'react';
import type { InputField, WaitingFor } from '@/api/types';
import { bytes } from '@/model/figures';
import type { Values } from '@/model/review';
import { Field, Input, Select, TextArea, useField } from '@/ui/fields';
import { Icon } from '@/ui/Icon';
import { useWorkFont } from '@/ui/work';

interface Props {
  form: NonNullable<WaitingFor['form']>;
  values: Values;
  onChange: (name: string, value: Values[string]) => void;
  wrong: Readonly<Record<string, string>>;
  /** The refusal that this is from. */
  refused: unknown;
  onSubmit: () => void;
}

export function FormPane({ form, values, onChange, wrong, refused, onSubmit }: Props) {
  useWorkFont();
  const pane = useRef<HTMLFormElement>(null);
  // What has to be put right has the cursor.
  useEffect(() => {
    pane.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [refused]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form ref={pane} noValidate onSubmit={submit} aria-label="Form" className="scroll-pane min-h-0 flex-1 px-7 py-5 max-tablet:px-4">
      <div className="flex max-w-[640px] flex-col gap-4">
        {form.instructions && <p className="whitespace-pre-line text-ink-2">{form.instructions}</p>}
        {form.input_fields.map((field) => (
          <One key={field.name} field={field} value={values[field.name]} onChange={(value) => onChange(field.name, value)} wrong={wrong[field.name]} />
        ))}
        <button type="submit" className="sr-only" tabIndex={-1} aria-hidden="true">
          Send
        </button>
      </div>
    </form>
  );
}

function One({ field, value, onChange, wrong }: { field: InputField; value: Values[string]; onChange: (value: Values[string]) => void; wrong: string | undefined }) {
  const help = field.validation ? (
    <>
      Rule: <span className="fact">{field.validation}</span>
    </>
  ) : undefined;
  const text = typeof value === 'string' ? value : '';
  return (
    <Field label={field.label} required={field.required} error={wrong} help={help}>
      {field.type === 'multiline_text' ? (
        <TextArea rows={5} value={text} onChange={(event) => onChange(event.target.value)} />
      ) : field.type === 'boolean' ? (
        <Select
          value={text}
          className="max-w-40"
          onChange={(event) => onChange(event.target.value)}
          options={[
            { value: '', label: 'Choose' },
            { value: 'true', label: 'Yes' },
            { value: 'false', label: 'No' },
          ]}
        />
      ) : field.type === 'file' ? (
        <Pick file={value instanceof File ? value : undefined} onChange={onChange} />
      ) : (
        <Input value={text} inputMode={field.type === 'number' ? 'decimal' : undefined} className={field.type === 'number' ? 'max-w-40' : undefined} onChange={(event) => onChange(event.target.value)} />
      )}
    </Field>
  );
}

function Pick({ file, onChange }: { file: File | undefined; onChange: (file: File | undefined) => void }) {
  const wire = useField();
  return (
    <span className="flex min-h-[30px] items-center gap-3 rounded-2 border border-edge bg-raised px-[9px] py-1 has-aria-invalid:border-fail has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-ink">
      <Icon name="upload" size={14} className="text-ink-3" />
      <input {...wire} type="file" onChange={(event) => onChange(event.target.files?.[0])} className="min-w-0 flex-1 text-small outline-none file:mr-3 file:rounded-1 file:border file:border-line-2 file:bg-surface file:px-2 file:py-0.5 file:text-ink" />
      {file && <span className="text-small text-ink-3">{bytes(file.size)}</span>}
    </span>
  );
}
