/** Comments on lines: they are kept here until they go with a request for a revision. */
import { type FormEvent, type KeyboardEvent, type ReactNode, useState } from 'react';
import type { Asked, Comment } from '@/model/review';
import { Avatar } from '@/ui/Avatar';
import { Button } from '@/ui/Button';
import { TextArea } from '@/ui/fields';
import { Time } from '@/ui/values';
import { useDraft } from '@/ui/drafts';

/** A place in a text: the sign tells lines that are there from lines that went. */
export interface Place {
  sign: ' ' | '+' | '-';
  line: number;
  on: string;
}

export interface Draft extends Comment {
  id: number;
  sign: Place['sign'];
}

export interface Talk {
  drafts: readonly Draft[];
  open: Place | undefined;
  setOpen: (place: Place | undefined) => void;
  add: (place: Place, text: string) => void;
  remove: (id: number) => void;
}

export function useTalk(about: string, file: string, onAdd: () => void): Talk & { all: readonly Draft[]; clear: () => void } {
  const [all, setAll] = useDraft<readonly Draft[]>(`comments ${about}`, []);
  const [open, setOpen] = useState<Place>();
  return {
    all,
    drafts: all.filter((one) => one.file === file),
    open,
    setOpen,
    add: (place, text) => {
      setAll((now) => [...now, { id: (now.at(-1)?.id ?? 0) + 1, file, line: place.line, sign: place.sign, on: place.on, text }]);
      setOpen(undefined);
      onAdd();
    },
    remove: (id) => setAll((now) => now.filter((one) => one.id !== id)),
    clear: () => setAll([]),
  };
}

const card = 'my-1 mr-5 ml-4 rounded-3 border border-line-2 bg-raised px-3 py-2 font-sans text-body tablet:ml-[102px]';

/** What stands under a line: what was said before, what will be sent, and the field to write in. */
export function Under({ talk, place, asked, me }: { talk: Talk; place: Place; asked: readonly Asked[]; me: string }) {
  const drafts = talk.drafts.filter((one) => one.line === place.line && (one.sign === '-') === (place.sign === '-'));
  const writing = talk.open && talk.open.line === place.line && (talk.open.sign === '-') === (place.sign === '-');
  if (drafts.length === 0 && asked.length === 0 && !writing) return null;
  return (
    <>
      {asked.map((one) => (
        <Said key={`${one.at}-${one.text}`} name={one.by} meta={<><Time at={one.at} as="clock" />, on revision {one.revision}</>} text={one.text} end={`sent before rev ${one.revision + 1}`} />
      ))}
      {drafts.map((one) => (
        <Said
          key={one.id}
          name={me}
          meta="not sent yet"
          text={one.text}
          action={
            <Button size="small" kind="quiet" onClick={() => talk.remove(one.id)}>
              Remove
            </Button>
          }
        />
      ))}
      {writing && <Write line={place.line} onCancel={() => talk.setOpen(undefined)} onSave={(text) => talk.add(place, text)} />}
    </>
  );
}

function Said({ name, meta, text, end, action }: { name: string; meta: ReactNode; text: string; end?: string; action?: ReactNode }) {
  return (
    <div className={card} role="note">
      <div className="flex items-center gap-2 text-small">
        <Avatar name={name} kind="person" size={18} />
        <b>{name}</b>
        <span className="text-ink-3">{meta}</span>
        <span className="flex-1" />
        {end && <span className="text-ink-3">{end}</span>}
        {action}
      </div>
      <p className="pl-[26px] whitespace-pre-line">{text}</p>
    </div>
  );
}

function Write({ line, onCancel, onSave }: { line: number; onCancel: () => void; onSave: (text: string) => void }) {
  const [text, setText] = useState('');
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (text.trim()) onSave(text.trim());
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
      event.preventDefault();
      event.stopPropagation();
      submit();
    } else if (event.key === 'Escape') {
      event.preventDefault();
      onCancel();
    }
  };
  return (
    <form className={card} onSubmit={submit}>
      <TextArea autoFocus rows={2} aria-label={`Comment on line ${line}`} placeholder={`What should change in line ${line}`} value={text} onChange={(event) => setText(event.target.value)} onKeyDown={onKey} />
      <div className="mt-2 flex justify-end gap-2">
        <Button size="small" kind="quiet" hint="escape" onClick={onCancel}>
          Cancel
        </Button>
        <Button size="small" type="submit" hint="mod+enter" off={text.trim() ? undefined : 'Write something first.'} offAt="hidden">
          Add comment
        </Button>
      </div>
    </form>
  );
}
