/** The draft with its past: every change can be taken back, and quick changes of one field are one step. */
import { useReducer } from 'react';
import type { Pipeline } from '@/api/types';
import { type Draft, draftOf } from '@/model/definition';

interface State {
  /** What is saved. */
  base: Draft;
  /** When that was saved: another time means that somebody else changed it. */
  stamp: string;
  now: Draft;
  past: readonly Draft[];
  future: readonly Draft[];
  /** The field that was changed last, and when. */
  last: { field: string; at: number } | undefined;
}

type Act =
  | { act: 'edit'; change: (now: Draft) => Draft; field: string; at: number }
  | { act: 'undo' }
  | { act: 'redo' }
  | { act: 'discard' }
  | { act: 'saved'; pipeline: Pipeline };

const MOST = 200;
/** Within this time, changes of one field are one step. */
const TOGETHER = 1000;

function reduce(state: State, act: Act): State {
  switch (act.act) {
    case 'edit': {
      const now = act.change(state.now);
      if (now === state.now) return state;
      const goesOn = state.last?.field === act.field && act.at - state.last.at < TOGETHER;
      const past = goesOn ? state.past : [...state.past, state.now].slice(-MOST);
      return { ...state, now, past, future: [], last: { field: act.field, at: act.at } };
    }
    case 'undo': {
      const before = state.past.at(-1);
      return before ? { ...state, now: before, past: state.past.slice(0, -1), future: [state.now, ...state.future], last: undefined } : state;
    }
    case 'redo': {
      const [next, ...future] = state.future;
      return next ? { ...state, now: next, past: [...state.past, state.now], future, last: undefined } : state;
    }
    case 'discard':
      return state.now === state.base ? state : { ...state, now: state.base, past: [...state.past, state.now], future: [], last: undefined };
    case 'saved':
      return fresh(act.pipeline);
  }
}

const fresh = (pipeline: Pipeline): State => {
  const base = draftOf(pipeline);
  return { base, stamp: pipeline.updated_at, now: base, past: [], future: [], last: undefined };
};

export function useDraft(pipeline: Pipeline) {
  const [state, dispatch] = useReducer(reduce, pipeline, fresh);
  return { ...state, dispatch };
}
