/** Words that are on or off, and a field for words of one's own. */
import clsx from 'clsx';
import { type KeyboardEvent, useState } from 'react';
import { Button } from '@/ui/Button';
import { Input } from '@/ui/fields';
import { Icon, StatusMark } from '@/ui/Icon';

interface Props {
  label: string;
  chosen: readonly string[];
  known: readonly { value: string; label: string }[];
  onChange: (next: string[]) => void;
  off: boolean;
  /** What can be written: "another tool". */
  own: string;
}

const chip = 'inline-flex h-[26px] items-center gap-1.5 rounded-1 border px-[7px] text-small font-medium max-tablet:h-11';

export function Chips({ label, chosen, known, onChange, off, own }: Props) {
  const [text, setText] = useState('');
  const add = () => {
    const word = text.trim();
    if (word !== '' && !chosen.includes(word)) onChange([...chosen, word]);
    setText('');
  };
  const others = chosen.filter((one) => !known.some((each) => each.value === one));
  const toggle = (value: string) => onChange(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value]);
  return (
    <div role="group" aria-label={label} className="flex min-h-[30px] flex-wrap items-center gap-2">
      {known.map(({ value, label: word }) => {
        const on = chosen.includes(value);
        return (
          <button key={value} type="button" aria-pressed={on} disabled={off} onClick={() => toggle(value)} className={clsx(chip, on ? 'border-line-2 bg-raised text-ink' : 'border-dashed border-line-2 text-ink-3 hover:text-ink')}>
            {on ? <StatusMark icon="passed" size={14} /> : <Icon name="plus" size={14} />}
            {word}
          </button>
        );
      })}
      {others.map((one) => (
        <span key={one} className={clsx(chip, 'border-line-2 bg-raised')}>
          {one}
          {!off && (
            <button type="button" aria-label={`Take ${one} away`} onClick={() => toggle(one)} className="-mr-1 grid size-6 place-items-center rounded-1 text-ink-3 hover:text-ink">
              <Icon name="close" size={12} />
            </button>
          )}
        </span>
      ))}
      {!off && (
        <span className="flex items-center gap-1">
          <Input
            aria-label={`Add ${own}`}
            placeholder={own}
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event: KeyboardEvent) => {
              if (event.key !== 'Enter') return;
              event.preventDefault();
              add();
            }}
            className="h-[26px]! w-[132px]! text-small"
          />
          {text.trim() !== '' && (
            <Button size="small" onClick={add}>
              Add
            </Button>
          )}
        </span>
      )}
    </div>
  );
}
