/** What the fields of the form know: the checkpoint, what is wrong with it, and how to change it. */
import { createContext, use } from 'react';
import { type Draft, type Json, type Loose, look, type Part } from '@/model/definition';
import type { Fault } from '@/model/definition-faults';

export interface Editing {
  draft: Draft;
  /** The checkpoint that the form shows, and how it was saved; the pipeline itself has neither. */
  part: Part | undefined;
  definition: Loose;
  saved: Loose | undefined;
  /** Faults and notes of this checkpoint. */
  faults: readonly Fault[];
  notes: readonly { pointer: string; message: string }[];
  off: boolean;
  set: (pointer: string, value: Json | undefined) => void;
  /** Several fields at once, as one step. */
  change: (field: string, next: (definition: Loose) => Loose) => void;
  /** Where the cursor is, for the file beside the form. */
  focus: (pointer: string) => void;
  /** A text that is no JSON yet: it stands in its field and nowhere else. */
  broken: (pointer: string, message: string | undefined) => void;
}

export const EditingContext = createContext<Editing | undefined>(undefined);

export function useEditing(): Editing {
  const editing = use(EditingContext);
  if (!editing) throw new Error('this field stands outside of the editor');
  return editing;
}

/** A field of the checkpoint. */
export function useAt(pointer: string) {
  const { definition, saved, faults, notes, set, focus, off } = useEditing();
  const value = look(definition, pointer);
  const before = look(saved, pointer);
  return {
    value,
    before,
    changed: saved !== undefined && JSON.stringify(before) !== JSON.stringify(value),
    fault: faults.find((fault) => fault.pointer === pointer)?.message,
    note: notes.find((one) => one.pointer === pointer)?.message,
    set: (next: Json | undefined) => set(pointer, next),
    focus: () => focus(pointer),
    off,
  };
}

/** Whether something inside is wrong: a closed row shows it. */
export const useWrongInside = (pointer: string) => useEditing().faults.some((fault) => fault.pointer.startsWith(`${pointer}/`) || fault.pointer === pointer);
