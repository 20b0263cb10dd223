/** What the server says about the draft while it is being changed: what is wrong, or what saving would do. */
import { useEffect, useState } from 'react';
import { type AppliedChange, dryRun } from '@/api/hooks/pipelines';
import { Problem } from '@/api/problem';
import { type Draft, sent } from '@/model/definition';

export interface Verdict {
  of: Draft;
  changes: readonly AppliedChange[];
  problem: Problem | undefined;
}

const PAUSE = 300;

/** `beside` is what else the answer depends on: runs that begin and end. */
export function useVerdict(pipeline: string, draft: Draft, beside: string, wanted: boolean): Verdict | undefined {
  const [verdict, setVerdict] = useState<Verdict & { beside: string }>();
  useEffect(() => {
    if (!wanted) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      dryRun(sent(draft, pipeline), stop.signal).then(
        (answer) => setVerdict({ of: draft, beside, changes: answer.changes as unknown as AppliedChange[], problem: undefined }),
        (error: unknown) => stop.signal.aborted || setVerdict({ of: draft, beside, changes: [], problem: Problem.of(error) }),
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [draft, pipeline, beside, wanted]);
  return verdict?.of === draft && verdict.beside === beside ? verdict : undefined;
}
