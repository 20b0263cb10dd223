/** A run that was itself rolled back: by what, and the two ways on. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { body, client } from '@/api/client';
import { useUndoRollback } from '@/api/hooks/rollback';
import { keys } from '@/api/keys';
import type { Problem } from '@/api/problem';
import { Button } from '@/ui/Button';
import { useOffline } from '@/ui/HintBar';
import { ErrorBlock } from '@/ui/states';
import { Time } from '@/ui/values';

export function Gone({ problem }: { problem: Problem }) {
  const id = String(problem.more.rollback_id ?? '');
  const rollback = useQuery({ queryKey: keys.rollback(id), enabled: id !== '', queryFn: () => body(client.GET('/api/rollback/{id}', { params: { path: { id } } })) });
  const undo = useUndoRollback();
  const navigate = useNavigate();
  const offline = useOffline();
  const it = rollback.data;
  return (
    <div className="m-5 flex max-w-[620px] flex-col gap-3 max-tablet:m-4">
      <ErrorBlock
        title="This run was rolled back"
        problem={problem}
        action={
          it && (
            <>
              <Button size="small" keys="u" word="undo" busy={undo.isPending} off={offline ?? (it.undo_until ? undefined : 'Its archive is gone.')} onClick={() => undo.mutate(id)}>
                Undo the rollback
              </Button>
              {it.target_run_id && (
                <Button size="small" onClick={() => void navigate({ to: '/runs/$runId', params: { runId: it.target_run_id ?? '' } })}>
                  {`Go to v${it.target_run_version}, which goes on`}
                </Button>
              )}
            </>
          )
        }
      />
      {undo.error && <ErrorBlock title="It was not undone" problem={undo.error} />}
      {it && (
        <p className="text-small text-ink-3">
          Rolled back <Time at={it.created_at} as="moment" />
          {it.user_reason && `: ${it.user_reason}`}
          {it.undo_until && (
            <>
              . It can be undone until <Time at={it.undo_until} as="moment" />.
            </>
          )}
        </p>
      )}
    </div>
  );
}
