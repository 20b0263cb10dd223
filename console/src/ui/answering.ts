/** Sends answers: guarded, one at a time, waiting for the server's word, and with the undo that the answer offers. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { type Answer, useAnswer } from '@/api/hooks/inbox';
import { useAbort } from '@/api/hooks/runs';
import { useSubmitForm } from '@/api/hooks/submit';
import { Problem } from '@/api/problem';
import type { Execution } from '@/api/types';
import { type About, type Command, type Plan, type Undoing } from '@/model/answering';
import { backTo, begun, type Point, within } from '@/model/undo';
import { type Guarded, useGuard } from './guard';
import { useStop } from './stop';
import { toast, type Undo } from './toast';

interface Options {
  about: About;
  /** Names the question and what is shown of it; another name is another question for the guard. */
  shown: string | undefined;
  /** Where the undo of a decision leads. */
  point: Point | null | undefined;
  /** Just before it is sent. */
  onSend?: (() => void) | undefined;
  onDone: (said: string, undo: Undo | undefined, command: Command, answer: Partial<Execution>) => void;
  onRefused?: (problem: Problem) => void;
}

export interface Answering extends Guarded {
  decide: (plan: Plan) => void;
  busy: boolean;
  /** What was refused, and why. */
  problem: Problem | undefined;
  reset: () => void;
}

export function useAnswering({ about, shown, point, onSend, onDone, onRefused }: Options): Answering {
  const guarded = useGuard(shown);
  const answer = useAnswer();
  const abort = useAbort();
  const submit = useSubmitForm();
  const navigate = useNavigate();
  const stop = useStop();
  const sending = useRef(false);
  // What was still being read when the key was pressed may have come while the answer was on its way.
  const latest = useRef({ about, point });
  useEffect(() => {
    latest.current = { about: { ...about, pipeline: about.pipeline ?? latest.current.about.pipeline }, point: point ?? latest.current.point };
  });

  const send = (command: Command): Promise<unknown> => {
    for (const one of [answer, abort, submit]) one.reset();
    if (command.act === 'abort') return abort.mutateAsync({ id: command.run, reason: command.reason });
    if (command.act === 'fill in') return submit.mutateAsync({ execution: command.execution, fields: command.fields, files: command.files });
    return answer.mutateAsync(command satisfies Answer);
  };
  const startAgain = () => {
    const { run, name, pipeline, version } = latest.current.about;
    return answer.mutateAsync({ act: 'start', run }).then((now) => toast(begun(now as Partial<Execution>, name, pipeline ? ` in ${pipeline} v${version ?? ''}` : '').said));
  };
  const undoing = (how: Undoing | undefined, now: Partial<Execution>): Undo | undefined => {
    const { about: it, point: back } = latest.current;
    const own = within(back);
    if (how === 'back' && back) return () => navigate(backTo(back));
    if (how === 'up' && own) return () => navigate(backTo(own));
    if (how === 'stop' && now.execution_id) return stop(now.execution_id, it.name);
    return how === 'ask' ? startAgain : undefined;
  };
  const decide = (plan: Plan) => {
    const { command } = plan;
    if (!command || plan.missing !== undefined || sending.current || !guarded.allows()) return;
    sending.current = true;
    onSend?.();
    send(command).then(
      (done) => {
        sending.current = false;
        const now = (done ?? {}) as Partial<Execution>;
        onDone(plan.said(latest.current.about, now), undoing(plan.undo(now), now), command, now);
      },
      (error: unknown) => {
        sending.current = false;
        onRefused?.(Problem.of(error));
      },
    );
  };
  const error = answer.error ?? abort.error ?? submit.error;
  return {
    ...guarded,
    decide,
    busy: answer.isPending || abort.isPending || submit.isPending,
    problem: error ? Problem.of(error) : undefined,
    reset: () => {
      for (const one of [answer, abort, submit]) one.reset();
    },
  };
}
