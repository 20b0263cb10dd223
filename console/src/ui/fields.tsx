/** Fields: a label above or beside, help, an error that says how to put it right, and the controls themselves. */
import clsx from 'clsx';
import { RadioGroup as Radios, Switch as Toggle } from 'radix-ui';
import { createContext, type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes, use, useId } from 'react';
import { Icon, StatusMark } from './Icon';
import { Keys } from './Keys';

interface Wiring {
  id: string;
  describedBy: string | undefined;
  wrong: boolean;
}
const Wire = createContext<Wiring | undefined>(undefined);

export interface FieldProps {
  label: string;
  help?: ReactNode;
  /** How to put it right: "Write it like Q3 2026." */
  error?: string | undefined;
  required?: boolean;
  /** `beside` puts the label into a column of 122. */
  layout?: 'above' | 'beside';
  children: ReactNode;
  className?: string;
}

export function Field({ label, help, error, required = false, layout = 'above', children, className }: FieldProps) {
  const id = useId();
  const note = useId();
  const described = error || help ? note : undefined;
  return (
    <Wire value={{ id, describedBy: described, wrong: error !== undefined }}>
      <div className={clsx(layout === 'beside' ? 'grid gap-x-4 tablet:grid-cols-[122px_1fr]' : 'flex flex-col gap-1', className)}>
        <label htmlFor={id} className={layout === 'beside' ? 'pt-[5px] text-small text-ink-3' : 'label'}>
          {label}
          {required && <span className="text-ink-3"> (required)</span>}
        </label>
        <div className="min-w-0">
          {children}
          {error ? (
            <p id={note} className="mt-1 flex items-start gap-1.5 text-small text-fail">
              <StatusMark icon="failed" size={14} className="mt-0.5" />
              {error}
            </p>
          ) : (
            help && (
              <p id={note} className="mt-1 text-small text-ink-3">
                {help}
              </p>
            )
          )}
        </div>
      </div>
    </Wire>
  );
}

/** Hands what a field knows to a control of another kind. */
export function useField(): { id?: string; 'aria-describedby'?: string | undefined; 'aria-invalid'?: true | undefined } {
  const wire = use(Wire);
  return wire ? { id: wire.id, 'aria-describedby': wire.describedBy, 'aria-invalid': wire.wrong || undefined } : {};
}

const box = 'w-full rounded-2 border border-edge bg-raised aria-invalid:border-fail disabled:opacity-45 text-ink';

export interface InputProps extends InputHTMLAttributes<HTMLInputElement> {
  /** Facts and code are written in mono. */
  mono?: boolean;
  /** A field for finding: a glass before it and its key behind it. */
  find?: boolean | undefined;
  hint?: string;
}

export function Input({ mono = false, find = false, hint, className, ...rest }: InputProps) {
  const wire = useField();
  const input = (
    <input
      {...wire}
      {...rest}
      className={clsx(box, 'h-[30px] px-[9px] max-tablet:h-[46px] max-tablet:rounded-3', mono && 'font-mono text-[12px]', find && 'pl-8', find && hint && 'pr-9', !find && className)}
    />
  );
  if (!find) return input;
  return (
    <span className={clsx('relative inline-flex items-center', className)}>
      <Icon name="search" size={14} className="pointer-events-none absolute left-[10px] text-ink-3" />
      {input}
      {hint && <Keys keys={hint} className="pointer-events-none absolute right-2" />}
    </span>
  );
}

export function TextArea({ mono = false, className, ...rest }: TextareaHTMLAttributes<HTMLTextAreaElement> & { mono?: boolean }) {
  const wire = useField();
  return <textarea rows={3} {...wire} {...rest} className={clsx(box, 'block resize-y px-[9px] py-[6px] leading-[19px]', mono && 'font-mono text-[12px]', className)} />;
}

export interface Choice {
  value: string;
  label: string;
}

/** The system's own list: it works on a phone, and with every reader. */
export function Select({ options, className, ...rest }: SelectHTMLAttributes<HTMLSelectElement> & { options: readonly Choice[] }) {
  const wire = useField();
  return (
    <span className={clsx('relative inline-flex w-full items-center', className)}>
      <select {...wire} {...rest} className={clsx(box, 'h-[30px] appearance-none pr-7 pl-[9px] max-tablet:h-[46px] max-tablet:rounded-3')}>
        {options.map((option) => (
          <option key={option.value} value={option.value} className="bg-raised text-ink">
            {option.label}
          </option>
        ))}
      </select>
      <Icon name="down" size={14} className="pointer-events-none absolute right-2 text-ink-3" />
    </span>
  );
}

export function Switch({ checked, onChange, label, disabled = false }: { checked: boolean; onChange: (checked: boolean) => void; label?: string; disabled?: boolean }) {
  const wire = useField();
  const toggle = (
    <Toggle.Root
      {...wire}
      checked={checked}
      disabled={disabled}
      onCheckedChange={onChange}
      aria-label={label && wire.id ? label : undefined}
      className="relative h-5 w-[34px] flex-none rounded-full border border-edge bg-sunken transition-colors after:absolute after:-inset-[3px] after:content-[''] max-tablet:after:-inset-x-2 max-tablet:after:-inset-y-[13px] data-[state=checked]:border-ink data-[state=checked]:bg-ink"
    >
      <Toggle.Thumb className="absolute top-[2px] left-[2px] block size-[14px] rounded-full bg-edge transition-transform data-[state=checked]:translate-x-[14px] data-[state=checked]:bg-surface" />
    </Toggle.Root>
  );
  if (!label || wire.id) return toggle;
  return (
    <label className="inline-flex items-center gap-2">
      {toggle}
      {label}
    </label>
  );
}

export interface RadioOption extends Choice {
  meta?: ReactNode;
  keys?: string;
  /** Why it cannot be chosen. */
  off?: string | undefined;
}

/** Options as one block of rows, each with its key. */
export function RadioRows({ value, onChange, options, label }: { value: string | undefined; onChange: (value: string) => void; options: readonly RadioOption[]; label: string }) {
  return (
    <Radios.Root value={value ?? ''} onValueChange={onChange} aria-label={label} className="overflow-hidden rounded-2 border border-line-2 bg-raised">
      {options.map((option) => (
        <Radios.Item
          key={option.value}
          value={option.value}
          disabled={option.off !== undefined}
          className="group flex min-h-8 w-full items-center gap-[10px] border-b border-line px-[10px] py-1 text-left last:border-b-0 focus-visible:-outline-offset-2 data-[state=checked]:bg-select data-[state=checked]:font-name max-tablet:min-h-[46px]"
        >
          <span className="grid size-[14px] flex-none place-items-center rounded-full border border-edge group-data-[state=checked]:border-[4px] group-data-[state=checked]:border-ink" />
          <span className={clsx('flex-1', option.off && 'text-ink-3')}>{option.label}</span>
          {(option.off ?? option.meta) !== undefined && <span className="text-small font-body text-ink-3">{option.off ?? option.meta}</span>}
          {option.keys && <Keys keys={option.keys} />}
        </Radios.Item>
      ))}
    </Radios.Root>
  );
}
