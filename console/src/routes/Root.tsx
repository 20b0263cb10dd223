/** Before anything else: who is signed in. Then the live connection, for as long as somebody is. */
import { useQueryClient } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { onSignedOut } from '@/api/client';
import { useMe } from '@/api/hooks/session';
import { keys } from '@/api/keys';
import { follow } from '@/api/live/connection';
import { Problem } from '@/api/problem';
import { Button } from '@/ui/Button';
import { ErrorBlock } from '@/ui/states';

const SignIn = lazy(() => import('@/features/sign-in'));

export function Root() {
  const queries = useQueryClient();
  const me = useMe();
  const signedIn = me.data !== undefined;
  useEffect(() => {
    onSignedOut(() => {
      if (queries.getQueryData(keys.me)) void queries.resetQueries({ queryKey: keys.me });
    });
  }, [queries]);
  useEffect(() => (signedIn ? follow(queries) : undefined), [signedIn, queries]);
  if (me.error) {
    const problem = Problem.of(me.error);
    if (problem.status === 401) {
      return (
        <Suspense>
          <SignIn />
        </Suspense>
      );
    }
    return (
      <main className="mx-auto max-w-[560px] p-5 pt-[16vh]">
        <ErrorBlock
          title="The console could not be opened"
          problem={problem}
          action={
            <Button size="small" onClick={() => void me.refetch()}>
              Try again
            </Button>
          }
        />
      </main>
    );
  }
  return signedIn ? <Outlet /> : null;
}
