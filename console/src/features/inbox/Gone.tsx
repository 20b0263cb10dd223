/** A question that somebody answered while it was looked at: who, what, when, on one line. */
import { Link } from '@tanstack/react-router';
import type { Event } from '@/api/types';
import type { Question } from '@/model/inbox';
import { Avatar } from '@/ui/Avatar';
import { Button } from '@/ui/Button';
import { Time } from '@/ui/values';

export function Gone({ question, events, onNext }: { question: Question; events: readonly Event[]; onNext?: (() => void) | undefined }) {
  const { item } = question;
  const since = item.waiting_for.since;
  const answer = events.find((event) => event.execution_id === item.execution_id && event.timestamp >= since);
  return (
    <section aria-label="Selected question" role="status" className="flex flex-wrap content-start items-center gap-x-3 gap-y-2 border-b border-line px-5 py-3 max-tablet:px-4">
      {answer && <Avatar name={answer.actor.name} kind={answer.actor.kind} size={20} />}
      <p className="min-w-0">
        {answer ? (
          <>
            <b>{answer.actor.name}</b>, <Time at={answer.timestamp} as="moment" />: {answer.description}
          </>
        ) : (
          'This is not asked any more.'
        )}{' '}
        <Link to="/runs/$runId" params={{ runId: item.run_id }} search={item.execution_id ? { execution: item.execution_id } : {}} className="underline underline-offset-2">
          {question.pipeline} v{item.run_version}
        </Link>
      </p>
      <span className="flex-1" />
      {onNext && (
        <Button size="small" hint="j" onClick={onNext}>
          Next question
        </Button>
      )}
    </section>
  );
}
