/** The controls of the form, each bound to one field of the definition by its pointer. */
import clsx from 'clsx';
import { type ReactNode, useId, useState } from 'react';
import { type Json, isObject } from '@/model/definition';
import { short } from '@/model/definition-words';
import { CodeView } from '@/ui/CodeView';
import { type Choice, Field, Input, Select, Switch, TextArea } from '@/ui/fields';
import { StatusMark } from '@/ui/Icon';
import { SegmentedControl } from '@/ui/Tabs';
import { useAt, useEditing } from './context';

interface Common {
  at: string;
  label: string;
  help?: ReactNode;
}

const was = (changed: boolean, before: Json | undefined) => (changed && (typeof before !== 'object' || before === null) ? `was ${short(before)}` : undefined);

/** Help, what it was, and the server's note, as one line. */
function Notes({ help, old, note }: { help?: ReactNode; old?: string | undefined; note?: string | undefined }) {
  if (!help && !old && !note) return undefined;
  return (
    <>
      {note && (
        <span className="mb-0.5 flex items-start gap-1.5 text-ink-2">
          <StatusMark icon="note" size={14} className="mt-0.5" />
          {note}
        </span>
      )}
      {help}
      {old && (
        <span className="text-ink-3">
          {help && ' '}
          {old}
        </span>
      )}
    </>
  );
}

function Line({ at, label, help, plain, children, above }: Common & { plain?: boolean; children: ReactNode; above?: boolean }) {
  const { fault, changed, before, note, focus } = useAt(at);
  const id = useId();
  const old = was(changed, before);
  const shown = (help ?? old ?? note) !== undefined ? <Notes help={help} old={old} note={note} /> : undefined;
  if (!plain) {
    return (
      <div data-at={at} onFocusCapture={focus} className="mb-[9px]">
        <Field label={label} help={shown} error={fault} layout={above ? 'above' : 'beside'}>
          {children}
        </Field>
      </div>
    );
  }
  return (
    <div data-at={at} onFocusCapture={focus} role="group" aria-labelledby={id} className="mb-[9px] grid gap-x-4 tablet:grid-cols-[122px_1fr]">
      <span id={id} className="pt-[5px] text-small text-ink-3">
        {label}
      </span>
      <div className="min-w-0">
        {children}
        {fault && <Wrong>{fault}</Wrong>}
        {!fault && shown && <p className="mt-1 text-small text-ink-3">{shown}</p>}
      </div>
    </div>
  );
}

export const Wrong = ({ children }: { children: ReactNode }) => (
  <p className="mt-1 flex items-start gap-1.5 text-small text-fail">
    <StatusMark icon="failed" size={14} className="mt-0.5" />
    {children}
  </p>
);

/** A group of fields, with a rule above it. */
export function Group({ title, children, first = false }: { title?: string; children: ReactNode; first?: boolean }) {
  return (
    <section aria-label={title} className={clsx('pt-3 pb-[14px]', !first && 'border-t border-line')}>
      {title && <h3 className="label mb-2">{title}</h3>}
      {children}
    </section>
  );
}

export const GroupLine = (props: Common & { children: ReactNode }) => <Line {...props} plain />;

export function TextLine({ mono, placeholder, above, ...common }: Common & { mono?: boolean; placeholder?: string; above?: boolean }) {
  const { value, set, off } = useAt(common.at);
  return (
    <Line {...common} {...(above ? { above } : {})}>
      <Input value={typeof value === 'string' ? value : ''} disabled={off} mono={mono ?? false} {...(placeholder ? { placeholder } : {})} onChange={(event) => set(event.target.value)} autoComplete="off" />
    </Line>
  );
}

/** A text that may be left out: empty takes it away. */
export function MaybeLine({ mono, placeholder, ...common }: Common & { mono?: boolean; placeholder?: string }) {
  const { value, set, off } = useAt(common.at);
  return (
    <Line {...common}>
      <Input value={typeof value === 'string' ? value : ''} disabled={off} mono={mono ?? false} {...(placeholder ? { placeholder } : {})} onChange={(event) => set(event.target.value === '' ? undefined : event.target.value)} autoComplete="off" />
    </Line>
  );
}

export function AreaLine({ rows = 3, maybe = false, above, ...common }: Common & { rows?: number; maybe?: boolean; above?: boolean }) {
  const { value, set, off } = useAt(common.at);
  return (
    <Line {...common} {...(above ? { above } : {})}>
      <TextArea rows={rows} value={typeof value === 'string' ? value : ''} disabled={off} onChange={(event) => set(maybe && event.target.value === '' ? undefined : event.target.value)} />
    </Line>
  );
}

export function NumberLine({ unit, step = 1, ...common }: Common & { unit?: string; step?: number | 'any' }) {
  const { value, set, off } = useAt(common.at);
  return (
    <Line {...common}>
      <span className="flex items-center gap-2">
        <Input
          type="number"
          step={step}
          min={0}
          inputMode={step === 1 ? 'numeric' : 'decimal'}
          className="w-[88px]!"
          disabled={off}
          value={typeof value === 'number' ? value : ''}
          onChange={(event) => set(Number.isNaN(event.target.valueAsNumber) ? undefined : event.target.valueAsNumber)}
        />
        {unit && <span className="text-small text-ink-3">{unit}</span>}
      </span>
    </Line>
  );
}

export function SwitchLine({ of = false, onChange, ...common }: Common & { of?: boolean; onChange?: (on: boolean) => void }) {
  const { value, set, off } = useAt(common.at);
  return (
    <Line {...common}>
      <span className="flex h-[30px] items-center">
        <Switch checked={typeof value === 'boolean' ? value : of} disabled={off} onChange={(on) => (onChange ? onChange(on) : set(on))} />
      </span>
    </Line>
  );
}

/** A switch with its words beside it. */
export function InlineSwitch({ at, label }: { at: string; label: string }) {
  const { value, set, off, focus } = useAt(at);
  return (
    <span data-at={at} onFocusCapture={focus}>
      <Switch checked={value === true} disabled={off} onChange={set} label={label} />
    </span>
  );
}

export function ChoiceLine({ options, onChange, of, ...common }: Common & { options: readonly Choice[]; onChange?: (value: string) => void; of?: string }) {
  const { value, set, off } = useAt(common.at);
  return (
    <Line {...common} plain>
      <fieldset disabled={off} className="min-w-0">
        <SegmentedControl label={common.label} value={typeof value === 'string' ? value : (of ?? '')} onChange={(next) => (off ? undefined : onChange ? onChange(next) : set(next))} segments={options} />
      </fieldset>
    </Line>
  );
}

export function SelectLine({ options, of, above, ...common }: Common & { options: readonly Choice[]; of?: string; above?: boolean }) {
  const { value, set, off } = useAt(common.at);
  return (
    <Line {...common} {...(above ? { above } : {})}>
      <Select options={options} value={typeof value === 'string' ? value : (of ?? '')} disabled={off} onChange={(event) => set(event.target.value)} />
    </Line>
  );
}

/** Any JSON, in an editor. What is no JSON yet stays here until it is. */
export function JsonLine({ objects = false, height = 120, ...common }: Common & { objects?: boolean; height?: number }) {
  const { value, set, off } = useAt(common.at);
  const { broken } = useEditing();
  const told = value === undefined ? '' : JSON.stringify(value, null, 2);
  const [typed, setTyped] = useState<{ text: string; of: string }>();
  const [wrong, setWrong] = useState<string>();
  const text = typed && (wrong || typed.of === told) ? typed.text : told;
  const change = (next: string) => {
    const say = (message: string | undefined) => {
      setWrong(message);
      broken(common.at, message);
    };
    if (next.trim() === '') {
      setTyped({ text: next, of: '' });
      say(undefined);
      return set(undefined);
    }
    try {
      const parsed = JSON.parse(next) as Json;
      setTyped({ text: next, of: JSON.stringify(parsed, null, 2) });
      if (objects && !isObject(parsed)) return say('Write a JSON object: {"name": value}.');
      say(undefined);
      set(parsed);
    } catch (error) {
      setTyped({ text: next, of: told });
      say(`This is no JSON yet: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  return (
    <Line {...common} plain>
      <div className="overflow-hidden rounded-2 border border-edge" style={{ height }}>
        <CodeView text={text} format="json" label={common.label} onChange={off ? undefined : change} className="h-full" />
      </div>
    </Line>
  );
}
