/** A list inside the form: one row each, opened in place, put in order by dragging or with keys. */
import { closestCenter, DndContext, type DragEndEvent, KeyboardSensor, PointerSensor, useSensor, useSensors } from '@dnd-kit/core';
import { SortableContext, sortableKeyboardCoordinates, useSortable, verticalListSortingStrategy } from '@dnd-kit/sortable';
import { CSS } from '@dnd-kit/utilities';
import clsx from 'clsx';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type Json, isObject, listAt, type Loose, textAt } from '@/model/definition';
import { Button } from '@/ui/Button';
import { Icon } from '@/ui/Icon';
import { useAt, useEditing, useWrongInside } from './context';
import { Wrong } from './parts';

interface Props {
  at: string;
  /** "field", "agent": what one of them is. */
  what: string;
  /** The row when it is closed. */
  row: (item: Loose) => ReactNode;
  /** The fields of one of them. */
  children: (pointer: string, item: Loose) => ReactNode;
  /** A new one; given how many there are. */
  make: (count: number) => Loose;
  empty: string;
}

export function Rows({ at, what, row, children, make, empty }: Props) {
  const { definition, off, faults } = useEditing();
  const { fault, set } = useAt(at);
  const list = listAt(definition, at).filter(isObject);
  const [open, setOpen] = useState<number>();
  const box = useRef<HTMLDivElement>(null);
  /** Where the row that was moved with keys stands now: the cursor goes with it. */
  const [moved, setMoved] = useState<{ to: number; said: string }>();
  useEffect(() => {
    if (moved) box.current?.querySelector<HTMLElement>(`[data-at="${at}/${moved.to}"] [aria-expanded]`)?.focus();
  }, [moved, at]);
  const sensors = useSensors(useSensor(PointerSensor, { activationConstraint: { distance: 4 } }), useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }));
  const ids = list.map((_, index) => `${at}/${index}`);
  // What is wrong in a closed row is said under the list.
  const inside = faults.filter((one) => one.pointer.startsWith(`${at}/`) && !(open !== undefined && one.pointer.startsWith(`${at}/${open}/`))).slice(0, 3);
  const move = (from: number, to: number) => {
    if (to < 0 || to >= list.length || from === to) return;
    const next = [...list];
    next.splice(to, 0, ...next.splice(from, 1));
    set(next as Json[]);
    if (open === from) setOpen(to);
    else setOpen(undefined);
  };
  const end = ({ active, over }: DragEndEvent) => over && move(ids.indexOf(String(active.id)), ids.indexOf(String(over.id)));
  const name = (item: Loose, index: number) => textAt(item, '/name') || `${what} ${index + 1}`;
  const announcements = {
    onDragStart: ({ active }: { active: { id: string | number } }) => `Picked up ${name(list[ids.indexOf(String(active.id))] ?? {}, 0)}`,
    onDragOver: ({ over }: { over: { id: string | number } | null }) => (over ? `Position ${ids.indexOf(String(over.id)) + 1} of ${list.length}` : undefined),
    onDragEnd: ({ over }: { over: { id: string | number } | null }) => (over ? `Put down at position ${ids.indexOf(String(over.id)) + 1} of ${list.length}` : 'Put back'),
    onDragCancel: () => 'Put back',
  };
  return (
    <div data-at={at} ref={box}>
      <span role="status" className="sr-only">
        {moved?.said}
      </span>
      <DndContext sensors={sensors} collisionDetection={closestCenter} onDragEnd={end} accessibility={{ announcements }}>
        <SortableContext items={ids} strategy={verticalListSortingStrategy}>
          {list.length > 0 && (
            <ul className="mb-2 rounded-2 border border-line">
              {list.map((item, index) => (
                <Entry
                  key={ids[index]}
                  id={ids[index] as string}
                  name={name(item, index)}
                  open={open === index}
                  onOpen={() => setOpen(open === index ? undefined : index)}
                  off={off}
                  row={row(item)}
                  onMove={(by) => {
                    const to = index + by;
                    if (to < 0 || to >= list.length) return;
                    move(index, to);
                    setMoved({ to, said: `${name(item, index)}, position ${to + 1} of ${list.length}` });
                  }}
                  onRemove={() => {
                    set(list.filter((_, other) => other !== index) as Json[]);
                    setOpen(undefined);
                  }}
                >
                  {children(ids[index] as string, item)}
                </Entry>
              ))}
            </ul>
          )}
        </SortableContext>
      </DndContext>
      {list.length === 0 && <p className="mb-2 text-small text-ink-3">{empty}</p>}
      {(fault || inside.length > 0) && (
        <div className="mb-2">
          {fault && <Wrong>{fault}</Wrong>}
          {inside.map((one) => (
            <Wrong key={one.pointer + one.message}>{one.message}</Wrong>
          ))}
        </div>
      )}
      {!off && (
        <Button
          size="small"
          icon="plus"
          onClick={() => {
            set([...list, make(list.length)] as Json[]);
            setOpen(list.length);
          }}
        >
          Add {/^[aeiou]/.test(what) ? 'an' : 'a'} {what}
        </Button>
      )}
    </div>
  );
}

interface EntryProps {
  id: string;
  name: string;
  open: boolean;
  onOpen: () => void;
  off: boolean;
  row: ReactNode;
  onMove: (by: number) => void;
  onRemove: () => void;
  children: ReactNode;
}

function Entry({ id, name, open, onOpen, off, row, onMove, onRemove, children }: EntryProps) {
  const { attributes, listeners, setNodeRef, transform, transition, isDragging } = useSortable({ id, disabled: off });
  const wrong = useWrongInside(id);
  return (
    <li
      ref={setNodeRef}
      data-at={id}
      style={{ transform: CSS.Translate.toString(transform), transition }}
      className={clsx('border-b border-line bg-raised first:rounded-t-2 last:rounded-b-2 last:border-b-0', isDragging && 'relative z-10 shadow-2', wrong && 'relative outline-1 -outline-offset-1 outline-fail')}
    >
      <div className="flex min-h-[34px] items-center gap-[9px] pr-2">
        {!off && (
          <button type="button" {...attributes} {...listeners} aria-label={`Move ${name}`} className="ml-1 grid h-[30px] w-6 flex-none cursor-grab max-tablet:h-11 max-tablet:w-9 touch-none place-items-center rounded-1 text-edge">
            <Icon name="grip" />
          </button>
        )}
        <button
          type="button"
          aria-expanded={open}
          onClick={onOpen}
          onKeyDown={(event) => {
            const by = event.altKey && event.key === 'ArrowUp' ? -1 : event.altKey && event.key === 'ArrowDown' ? 1 : 0;
            if (by === 0 || off) return;
            event.preventDefault();
            onMove(by);
          }}
          className={clsx('flex min-w-0 flex-1 items-center gap-[9px] self-stretch rounded-1 text-left', off && 'pl-2')}
        >
          {row}
          <span className="flex-1" />
          <Icon name={open ? 'down' : 'right'} size={14} className="flex-none text-ink-3" />
        </button>
      </div>
      {open && (
        <div className="border-t border-line bg-surface px-3 pt-3 pb-2">
          {children}
          {!off && (
            <Button kind="danger" size="small" icon="trash" onClick={onRemove}>
              Remove {name}
            </Button>
          )}
        </div>
      )}
    </li>
  );
}
