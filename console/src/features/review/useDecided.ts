/** After a decision: say what was done, and go on to the next question. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { body, client } from '@/api/client';
import { keys } from '@/api/keys';
import type { Execution, ExecutionAnswer } from '@/api/types';
import type { Command } from '@/model/answering';
import { isMine } from '@/model/rights';
import { toast, type Undo } from '@/ui/toast';
import type { Review } from './useReview';

/** In the address: nothing was chosen yet. */
export const UNDECIDED = 'undecided';

export function useDecided(review: Review) {
  const navigate = useNavigate();
  const router = useRouter();
  const queries = useQueryClient();
  const { me, execution, mine, at } = review;
  // Nothing is chosen on what comes next: a press that was meant for this question must not decide that one.
  const open = (id: string) => void navigate({ to: '/review/$executionId', params: { executionId: id }, search: { do: UNDECIDED }, replace: id === execution?.execution_id });
  /** The next question: of the same work, else of the same run, else of the inbox. */
  const goOn = async (answer: Partial<ExecutionAnswer> | undefined) => {
    if (answer?.execution_id && answer.waiting_for && isMine(me, answer.waiting_for)) {
      // An answer has where the execution stands now; what was said in it comes with the next look.
      queries.setQueryData<Execution>(keys.execution(answer.execution_id), (now) => now && { ...now, ...answer });
      open(answer.execution_id);
      review.forget();
      return;
    }
    const here = router.state.location.pathname;
    const run = execution && (await body(client.GET('/api/runs/{id}', { params: { path: { id: execution.run_id } } })).catch(() => undefined));
    // A person who went elsewhere meanwhile, by undoing it for example, stays there.
    if (router.state.location.pathname !== here) return;
    const current = run?.current_execution;
    if (current?.waiting_for && isMine(me, current.waiting_for)) {
      open(current.execution_id);
      if (current.execution_id === execution?.execution_id) review.forget();
      return;
    }
    const others = mine.filter((item) => item.execution_id !== execution?.execution_id && item.run_id !== execution?.run_id);
    const after = mine.slice(at + 1).find((item) => others.includes(item)) ?? others[0];
    if (after?.execution_id) open(after.execution_id);
    else void navigate({ to: '/inbox' });
  };
  return (said: string, undo: Undo | undefined, command: Command, answer: Partial<Execution>) => {
    toast(said, undo);
    const isExecution = command.act !== 'abort' && command.act !== 'answer' && command.act !== 'start';
    void goOn(isExecution ? (answer as Partial<ExecutionAnswer>) : undefined);
  };
}
