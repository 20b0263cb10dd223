/** What the run waits for, with the way to answer; or that it is followed live, and what comes after. */
import { Link } from '@tanstack/react-router';
import type { Run } from '@/api/types';
import { whyNot } from '@/model/rights';
import { HoldLine } from '@/ui/HoldLine';
import { Icon, StatusMark } from '@/ui/Icon';
import { Time } from '@/ui/values';
import type { RunView } from './useRunView';

export function Waits({ run, view }: { run: Run; view: RunView }) {
  const { me, definition, execution } = view;
  const current = run.current_execution;
  const waiting = current?.waiting_for;
  if (current && waiting && waiting.kind !== 'start' && waiting.kind !== 'retry') {
    const off = whyNot(me, waiting);
    return (
      <div className="flex flex-none items-stretch gap-3 border-t border-line bg-canvas py-2.5 pr-5 pl-4 max-tablet:border-b max-tablet:pr-4">
        <HoldLine state={off ? 'others' : 'reached'} />
        <div className="min-w-0 flex-1">
          <p className="font-name">{waiting.question}</p>
          <p className="text-small text-ink-3">
            asked <Time at={waiting.since} as="since" />
            {off && `. ${off}`}
          </p>
        </div>
        <Link
          to="/review/$executionId"
          params={{ executionId: current.execution_id }}
          className="inline-flex h-[30px] flex-none items-center gap-[7px] self-center rounded-2 border border-ink bg-ink px-[11px] font-value text-surface max-tablet:h-[46px]"
        >
          {off ? 'Look at it' : waiting.kind === 'form' ? 'Fill in the form' : 'Answer'}
          <Icon name="right" size={14} />
        </Link>
      </div>
    );
  }
  const live = run.status === 'in_progress' && current?.status === 'in_progress';
  if (!live) return null;
  const who = definition?.human_interaction.approvers ?? [];
  const asked = execution?.execution_id === current?.execution_id && definition?.human_interaction.requires_approval_to_complete;
  return (
    <div className="flex flex-none items-center justify-between gap-3 border-t border-line bg-canvas px-5 py-2.5 text-small max-tablet:hidden">
      <span className="inline-flex items-center gap-1.5 text-live">
        <StatusMark icon="live" tone="live" size={14} />
        Following live
      </span>
      {asked && <span className="truncate text-ink-3">When this ends, {who.length > 0 ? who.join(' and ') : 'somebody'} {who.length > 1 ? 'are' : 'is'} asked to approve it.</span>}
    </div>
  );
}
