/** Sending back and rejecting always say why. */
import { type FormEvent, useState } from 'react';
import type { Problem } from '@/api/problem';
import { Button } from '@/ui/Button';
import { Field, TextArea } from '@/ui/fields';
import { Hint } from '@/ui/Hint';
import { Dialog } from '@/ui/overlays';
import { useShortcut } from '@/ui/shortcuts';
import { ErrorBlock } from '@/ui/states';

interface Props {
  asking: 'revise' | 'reject' | undefined;
  name: string;
  /** What follows, and how it is undone. */
  about: string;
  busy: boolean;
  ready: boolean;
  hint: string | undefined;
  problem: Problem | undefined;
  onClose: () => void;
  onSend: (text: string) => void;
}

export function Reason({ asking, name, about, busy, ready, hint, problem, onClose, onSend }: Props) {
  const [text, setText] = useState('');
  const revise = asking === 'revise';
  const send = () => {
    if (text.trim() && !busy) onSend(text.trim());
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  useShortcut(asking ? 'mod+enter' : undefined, 'send', send, { group: 'In this dialog', hint: false });
  return (
    <Dialog open={asking !== undefined} onClose={onClose} title={revise ? `Ask for a revision of ${name}` : `Reject ${name}`} about={about}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <Field label={revise ? 'What should change' : 'Why'} required>
          <TextArea rows={4} value={text} onChange={(event) => setText(event.target.value)} />
        </Field>
        {problem && <ErrorBlock title={`${name} was not ${revise ? 'sent back' : 'rejected'}`} problem={problem} />}
        <div className="flex justify-end gap-2">
          <Button kind="quiet" onClick={onClose} hint="escape">
            Cancel
          </Button>
          <Button type="submit" kind={revise ? 'primary' : 'danger-fill'} busy={busy} ready={ready} disabled={!text.trim()} hint="mod+enter">
            {revise ? 'Ask for a revision' : `Reject ${name}`}
          </Button>
        </div>
        <Hint>{hint}</Hint>
      </form>
    </Dialog>
  );
}
