/** The log checked over its whole length, and what is filtered taken away. */
import { useState } from 'react';
import { type EventFilter, useVerified } from '@/api/hooks/events';
import { useMe } from '@/api/hooks/session';
import { useConnection } from '@/api/live/connection';
import { lines } from '@/model/events';
import { count } from '@/model/figures';
import { hasRole } from '@/model/rights';
import { Button } from '@/ui/Button';
import { Copy } from '@/ui/CopyAs';
import { StatusMark } from '@/ui/Icon';
import { Popover } from '@/ui/overlays';
import { ErrorBlock } from '@/ui/states';
import { tell } from '@/ui/toast';
import { collect, EXPORT_MOST } from './useLog';

export function Verify() {
  const { seq } = useConnection();
  const { data: me } = useMe();
  const verified = useVerified();
  return (
    <Popover label="Verify the log" align="end" trigger={<Button size="small">{seq === undefined ? 'Verify' : `Verify, ${count(seq)} events`}</Button>}>
      <div className="flex w-[400px] max-w-full flex-col gap-2">
        <p>
          The log ends at position <b>{seq === undefined ? 'unknown' : count(seq)}</b>. Every row names the row before it by its hash, so a row that was changed, removed or put in is found.
        </p>
        {verified.data ? (
          <div role="status" className="flex items-start gap-2 rounded-2 border border-line-2 px-3 py-2">
            <StatusMark icon={verified.data.ok ? 'done' : 'failed'} tone={verified.data.ok ? 'done' : 'fail'} className="mt-0.5" />
            <div className="min-w-0">
              <p className="font-name">{verified.data.ok ? 'It is what was written' : 'It is not what was written'}</p>
              <p className="text-small text-ink-2">
                {count(verified.data.events)} events in {count(verified.data.streams)} streams and {count(verified.data.seals)} seals were checked
                {verified.data.unsealed > 0 ? `; ${count(verified.data.unsealed)} rows wait for the next seal.` : '.'}
              </p>
              {verified.data.wrong.length > 0 && (
                <ul className="scroll-pane mt-1 max-h-40 list-disc pl-4 text-small text-fail">
                  {verified.data.wrong.map((what) => (
                    <li key={what}>{what}</li>
                  ))}
                </ul>
              )}
            </div>
          </div>
        ) : null}
        {verified.error && <ErrorBlock title="The log was not checked" problem={verified.error} />}
        <Button kind="primary" className="self-start" busy={verified.isFetching} off={hasRole(me, 'admin') ? undefined : `Your role is ${me?.role ?? 'none'}; this needs admin.`} offAt="below" onClick={() => void verified.refetch()}>
          {verified.data ? 'Check it again' : 'Check it now'}
        </Button>
        <p className="text-small text-ink-2">The same, on the machine that holds it:</p>
        <div className="flex items-center justify-between gap-2 rounded-2 bg-sunken pl-2">
          <code className="fact">holdpoint audit verify</code>
          <Copy text="holdpoint audit verify" label="Copy the command">
            Copy
          </Copy>
        </div>
      </div>
    </Popover>
  );
}

export function Export({ filter }: { filter: EventFilter }) {
  const [reading, setReading] = useState<number>();
  const [problem, setProblem] = useState<unknown>();
  const take = async () => {
    setProblem(undefined);
    setReading(0);
    try {
      const { events, cut } = await collect(filter, setReading);
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([lines(events)], { type: 'application/x-ndjson' }));
      link.download = 'holdpoint-events.jsonl';
      link.click();
      URL.revokeObjectURL(link.href);
      tell(cut ? `Exported the newest ${count(events.length)}; older ones that fit are not in the file` : `Exported all ${count(events.length)} that fit`);
    } catch (error) {
      setProblem(error);
    } finally {
      setReading(undefined);
    }
  };
  return (
    <Popover label="Export" align="end" trigger={<Button size="small" icon="download" busy={reading !== undefined}>{reading ? `${count(reading)} read` : 'Export'}</Button>}>
      <div className="flex w-[360px] max-w-full flex-col gap-2">
        <p>What the filter lets through, newest first, one event per line as JSON. At most {count(EXPORT_MOST)} are taken; the file is made here, in the browser.</p>
        <Button kind="primary" className="self-start" busy={reading !== undefined} onClick={() => void take()}>
          Export as JSON lines
        </Button>
        {problem !== undefined && <ErrorBlock title="Nothing was exported" problem={problem} />}
      </div>
    </Popover>
  );
}
