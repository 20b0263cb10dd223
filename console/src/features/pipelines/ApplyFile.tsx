/** A pipeline from a file: paste it, drop it, or choose it. What it would change is said before it does. */
import { type DragEvent, useEffect, useMemo, useState } from 'react';
import { useNavigate } from '@tanstack/react-router';
import { type AppliedChange, dryRun, useApplyDefinition } from '@/api/hooks/pipelines';
import { Problem } from '@/api/problem';
import { many } from '@/model/figures';
import { Button } from '@/ui/Button';
import { CodeView } from '@/ui/CodeView';
import { CopyAs } from '@/ui/CopyAs';
import { Dialog } from '@/ui/overlays';
import { ErrorBlock } from '@/ui/states';
import { toast } from '@/ui/toast';

interface Looked {
  of: string;
  changes?: AppliedChange[];
  problem?: Problem;
}

/** Files are read here only as long as somebody could have written them. */
const MOST = 2_000_000;

export function ApplyFile({ onClose, off }: { onClose: () => void; off: string | undefined }) {
  const [text, setText] = useState('');
  const [file, setFile] = useState<string>();
  const [unread, setUnread] = useState<string>();
  const [over, setOver] = useState(false);
  const [looked, setLooked] = useState<Looked>();
  const apply = useApplyDefinition();
  const navigate = useNavigate();
  useEffect(() => {
    if (text.trim() === '') return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      dryRun(text, stop.signal).then(
        (answer) => setLooked({ of: text, changes: answer.changes as unknown as AppliedChange[] }),
        (error: unknown) => stop.signal.aborted || setLooked({ of: text, problem: Problem.of(error) }),
      );
    }, 250);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text]);
  const now = looked?.of === text ? looked : undefined;
  const marks = useMemo(
    () =>
      now?.problem?.errors.flatMap((error) => {
        const line = /\(line (\d+), column \d+\)$/.exec(error.message)?.[1];
        return line ? [{ line: Number(line), kind: 'wrong' as const, message: error.message }] : [];
      }),
    [now],
  );
  const take = async (given: File | undefined) => {
    setOver(false);
    if (!given) return;
    if (given.size > MOST) return setUnread(`${given.name} is larger than a pipeline can be.`);
    setUnread(undefined);
    setFile(given.name);
    setText(await given.text());
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    void take(event.dataTransfer.files[0]);
  };
  const submit = () =>
    apply.mutate(text, {
      onSuccess: ({ pipeline, changes }) => {
        if (!pipeline) return;
        toast(changes.length === 0 ? `${pipeline.pipeline_name} is as the file says already` : `Applied ${pipeline.pipeline_name}: ${many(changes.length, 'change')}`);
        void navigate({ to: '/pipelines', search: { item: pipeline.pipeline_id } });
      },
    });
  const why = off ?? (text.trim() === '' ? 'Paste or drop a file first.' : now?.problem ? 'The file has to be put right first.' : undefined);
  return (
    <Dialog open onClose={onClose} title="Apply a file" about="YAML or JSON, with names instead of ids. A pipeline of that name is changed, else one is made. The same file twice changes nothing." className="w-[min(720px,calc(100vw-32px))]!">
      <div className="flex flex-col gap-3" onDragOver={(event) => (event.preventDefault(), setOver(true))} onDragLeave={() => setOver(false)} onDrop={drop}>
        <div className="flex flex-wrap items-center gap-2">
          <label className="inline-flex h-[30px] cursor-pointer items-center rounded-2 border border-line-2 bg-raised px-[11px] font-value shadow-1 focus-within:outline-2 focus-within:outline-offset-2 hover:border-edge">
            Choose a file
            <input type="file" accept=".yaml,.yml,.json" className="sr-only" onChange={(event) => void take(event.target.files?.[0])} />
          </label>
          <span className="text-small text-ink-3">{file ?? 'or paste it, or drop it here'}</span>
        </div>
        <CodeView text={text} format="yaml" label="The file" onChange={setText} marks={marks} className={over ? 'h-[260px] rounded-2 outline-2 outline-offset-2 outline-ink' : 'h-[260px] rounded-2'} />
        {unread && <p className="text-small text-fail">{unread}</p>}
        <div aria-live="polite">
          {now?.problem && <ErrorBlock title="The file was not applied" problem={now.problem} />}
          {now?.changes && (
            <>
              <p className="label">{now.changes.length === 0 ? 'Nothing would change.' : 'What it does'}</p>
              <ul className="scroll-pane max-h-32 text-small text-ink-2">
                {now.changes.map((change, at) => (
                  <li key={at} className="first-letter:uppercase">
                    {change.description.replaceAll('`', '')}
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
        {apply.error && <ErrorBlock title="The file was not applied" problem={apply.error} />}
        <div className="flex flex-wrap items-center justify-end gap-2">
          <CopyAs what={{ command: 'holdpoint pipeline apply FILE', method: 'POST', path: '/api/pipelines/apply' }} />
          <Button kind="quiet" onClick={onClose} hint="escape">
            Cancel
          </Button>
          <Button kind="primary" busy={apply.isPending} off={why} offAt="below" onClick={submit}>
            Apply the file
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
