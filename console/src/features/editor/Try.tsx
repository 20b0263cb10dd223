/** A checkpoint tried with scripted answers, before anything runs: the server walks the way up to it. */
import { type FormEvent, useEffect, useEffectEvent, useState } from 'react';
import { useDryRun } from '@/api/hooks/dry-runs';
import { modeOf, nameOf } from '@/model/definition';
import { asked, isJudged, outputsOf, UNWRITTEN } from '@/model/trial';
import { Button } from '@/ui/Button';
import { CopyAs } from '@/ui/CopyAs';
import { Field, Input, Select, TextArea } from '@/ui/fields';
import { useOffline } from '@/ui/HintBar';
import { Dialog } from '@/ui/overlays';
import { ErrorBlock } from '@/ui/states';
import { useEditing } from './context';
import { TryForm } from './TryForm';
import { Walked } from './Walked';

export function Try({ id, onClose }: { id: string; onClose: () => void }) {
  const { part } = useEditing();
  if (!part) return null;
  return modeOf(part) === 'human_only' ? <TryForm onClose={onClose} /> : <TryWork id={id} onClose={onClose} />;
}

function TryWork({ id, onClose }: { id: string; onClose: () => void }) {
  const { draft, part, definition, off } = useEditing();
  const offline = useOffline();
  const [script, setScript] = useState(UNWRITTEN);
  const run = useDryRun();
  const why = offline ?? (off ? 'This needs admin.' : undefined);
  const wanted = part ? asked(draft, part, script, id) : undefined;
  const ask = () => {
    if (wanted && !why && !run.isPending) run.mutate(wanted);
  };
  // The first try, with everything made up, needs no word from anybody.
  const first = useEffectEvent(ask);
  useEffect(() => first(), []);
  if (!part || !wanted) return null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    ask();
  };
  return (
    <Dialog open onClose={onClose} title={`Try ${nameOf(part)}`} about="The way up to here is walked with made-up answers. No model is asked, no script is run, and nothing is kept." className="w-[min(760px,calc(100vw-32px))]!">
      <form onSubmit={submit} className="flex flex-col gap-3">
        {outputsOf(definition).map(({ name, format }) => (
          <Field key={name} label={`${name}.${format}`} help="What it hands in. Empty: it is made up.">
            <TextArea rows={3} value={script.outputs[name] ?? ''} onChange={(event) => setScript((now) => ({ ...now, outputs: { ...now.outputs, [name]: event.target.value } }))} />
          </Field>
        ))}
        {isJudged(definition) && (
          <div className="flex flex-wrap gap-3">
            <Field label="The judge">
              <Select value={script.verdict} onChange={(event) => setScript((now) => ({ ...now, verdict: event.target.value === 'fails' ? 'fails' : 'passes' }))} options={[{ value: 'passes', label: 'Lets it pass' }, { value: 'fails', label: 'Lets it fail' }]} />
            </Field>
            {script.verdict === 'fails' && (
              <Field label="Reason" className="min-w-0 flex-1">
                <Input value={script.reason} onChange={(event) => setScript((now) => ({ ...now, reason: event.target.value }))} />
              </Field>
            )}
          </div>
        )}
        <div className="flex items-center justify-end gap-2">
          <CopyAs what={{ command: 'holdpoint run FILE --dry-run --stubs STUBS', method: 'POST', path: '/api/dry-runs', body: wanted }} />
          <span className="flex-1" />
          <Button kind="quiet" onClick={onClose} hint="escape">
            Close
          </Button>
          <Button type="submit" kind="primary" busy={run.isPending} off={why} offAt="below">
            Try it
          </Button>
        </div>
      </form>
      <div aria-live="polite" className="mt-4">
        {run.error && <ErrorBlock title="It was not tried" problem={run.error} />}
        {run.data && !run.isPending && <Walked report={run.data} name={nameOf(part)} />}
      </div>
    </Dialog>
  );
}
