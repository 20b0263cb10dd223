/** Answers that are written in the inbox itself. */
import { type FormEvent, type ReactNode, useState } from 'react';
import type { WaitingFor } from '@/api/types';
import { field } from '@/model/answering';
import { wrongAmount } from '@/model/review';
import { Button } from '@/ui/Button';
import { Field, Input, TextArea } from '@/ui/fields';

interface Props {
  waiting: WaitingFor;
  size: 'normal' | 'phone';
  extra: ReactNode;
  off: string | undefined;
  busy: boolean;
  ready: boolean;
  onSend: (text: string) => void;
}

/** Words that the work is done again with. */
export function Write({ waiting, size, extra, off, busy, ready, onSend }: Props) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim()) onSend(text.trim());
  };
  return (
    <form onSubmit={submit} className="flex w-full flex-col gap-2">
      <Field label={field(waiting, undefined)?.label ?? ''}>
        <TextArea rows={2} value={text} onChange={(event) => setText(event.target.value)} />
      </Field>
      <span className="flex gap-2 max-tablet:[&>span]:flex-1">
        <Button type="submit" kind="primary" size={size} busy={busy} ready={ready} off={off ?? (text.trim() ? undefined : 'Write something first.')} className="max-tablet:flex-1">
          Send
        </Button>
        {extra}
      </span>
    </form>
  );
}

/** By how much a budget that is used up is raised; by as much again, where nothing is written. */
export function Raise({ waiting, size, extra, off, busy, ready, onSend, onStop }: Props & { onStop: () => void }) {
  const [amount, setAmount] = useState('');
  const wrong = wrongAmount(amount.trim());
  const asked = field(waiting, 'yes');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!wrong) onSend(amount.trim());
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap items-end gap-2 max-tablet:w-full">
      <Field label={asked?.label ?? ''} help={asked?.help} error={wrong}>
        <Input inputMode="decimal" value={amount} onChange={(event) => setAmount(event.target.value)} className="w-28" />
      </Field>
      <span className="flex gap-2 pb-[22px] max-tablet:w-full max-tablet:pb-0 max-tablet:[&>:not([aria-label=More])]:flex-1">
        <Button type="submit" kind="primary" size={size} busy={busy} ready={ready} off={off} className="max-tablet:px-2!">
          Raise the budget
        </Button>
        <Button size={size} busy={busy} ready={ready} off={off} offAt="hidden" onClick={onStop} className="max-tablet:px-2!">
          Stop the work
        </Button>
        {extra}
      </span>
    </form>
  );
}
