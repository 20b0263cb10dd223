/** What is not asked any more: who decided what and when, and where to go on. */
import { Link } from '@tanstack/react-router';
import type { Event, Execution } from '@/api/types';
import { execution as drawn } from '@/model/status';
import { Avatar } from '@/ui/Avatar';
import { Badge } from '@/ui/Badge';
import { Button } from '@/ui/Button';
import { Time } from '@/ui/values';
import { Stale } from './Decision';
import { Panel } from './Panel';

/** Somebody else was first: said here, with what was on the screen still standing. */
export function Moved({ decided, fresh, shown, onShow }: { decided: Event | undefined; fresh: Execution; shown: Execution; onShow: () => void }) {
  const again = fresh.waiting_for?.kind === shown.waiting_for?.kind && fresh.waiting_for != null;
  const newer = fresh.revision_iteration > shown.revision_iteration;
  return (
    <Panel question={shown.waiting_for?.question ?? ''} mine={false} passed>
      <div role="status" className="my-2 flex items-start gap-2">
        {decided && <Avatar name={decided.actor.name} kind={decided.actor.kind} size={20} />}
        <p className="min-w-0">
          {decided ? (
            <>
              <b>{decided.actor.name}</b>, <Time at={decided.timestamp} as="moment" />: {decided.description}
            </>
          ) : (
            'This is not asked any more.'
          )}
        </p>
      </div>
      <Stale onShow={onShow} verb={again && newer ? `Show revision ${fresh.revision_iteration + 1}` : again ? 'Show the new content' : 'Show how it stands now'}>
        {again ? 'The content has changed since it was shown.' : `What you see is how it was when it was asked.`}
      </Stale>
    </Panel>
  );
}

/** Nothing is asked here. */
export function Settled({ execution, next, onNext }: { execution: Execution; next: string | undefined; onNext: () => void }) {
  const status = drawn(execution, () => false);
  const last = execution.human_interactions.at(-1);
  return (
    <Panel question="Nothing is asked here" mine={false} passed>
      <p className="my-2 flex flex-wrap items-center gap-2 text-small text-ink-2">
        <Badge status={status} />
        {last && (
          <span>
            {last.actor ?? 'Somebody'} had the last word, <Time at={last.timestamp} as="moment" />.
          </span>
        )}
      </p>
      <div className="flex flex-wrap gap-2">
        {next && (
          <Button kind="primary" keys="j" word="next question" onClick={onNext}>
            Next question
          </Button>
        )}
        <Link to="/runs/$runId" params={{ runId: execution.run_id }} search={{ execution: execution.execution_id }} className="inline-flex h-[30px] items-center rounded-2 border border-line-2 bg-raised px-[11px] font-value hover:border-edge">
          Open the run
        </Link>
      </div>
    </Panel>
  );
}
