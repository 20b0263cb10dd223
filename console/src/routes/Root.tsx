/** Before anything else: who is signed in. Then the live connection, for as long as somebody is. */
import { useQueryClient } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { loaded } from '@/api/loaded';
import { onSignedOut } from '@/api/client';
import { useMe } from '@/api/hooks/session';
import { keys } from '@/api/keys';
import { follow } from '@/api/live/connection';
import { Problem } from '@/api/problem';
import { Button } from '@/ui/Button';
import { ErrorBlock } from '@/ui/states';

const SignIn = lazy(loaded(() => import('@/features/sign-in')));
const Again = lazy(loaded(() => import('@/features/sign-in/Again')));

export function Root() {
  const queries = useQueryClient();
  const me = useMe();
  const problem = me.error ? Problem.of(me.error) : undefined;
  const over = problem?.status === 401;
  const signedIn = me.data !== undefined && !over;
  useEffect(() => {
    onSignedOut(() => {
      // Asked once, by the first answer that says so; what was known stays, and so does the screen.
      const state = queries.getQueryState(keys.me);
      if (state?.status === 'success' && state.fetchStatus === 'idle') void queries.invalidateQueries({ queryKey: keys.me });
    });
  }, [queries]);
  useEffect(() => (signedIn ? follow(queries) : undefined), [signedIn, queries]);
  if (me.data) {
    return (
      <>
        <Outlet />
        {over && (
          <Suspense>
            <Again name={me.data.name} />
          </Suspense>
        )}
      </>
    );
  }
  if (over) {
    return (
      <Suspense>
        <SignIn />
      </Suspense>
    );
  }
  if (problem) {
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
  return null;
}
