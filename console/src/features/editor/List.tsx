/** The checkpoints in their order. Drag them, or move the chosen one with ⌥↑ and ⌥↓; its new place is said. */
import { closestCenter, DndContext, DragOverlay, type DragEndEvent, type DragOverEvent, KeyboardSensor, PointerSensor, useSensor, useSensors } from '@dnd-kit/core';
import { SortableContext, sortableKeyboardCoordinates, useSortable } from '@dnd-kit/sortable';
import clsx from 'clsx';
import { useState } from 'react';
import { type Draft, modeOf, nameOf, type Part, textAt } from '@/model/definition';
import { about, holds, MODE_WORDS } from '@/model/definition-words';
import { Icon, StatusMark } from '@/ui/Icon';

interface Props {
  draft: Draft;
  selected: string | undefined;
  /** Keys of checkpoints with something wrong. */
  wrong: ReadonlySet<string>;
  off: boolean;
  onSelect: (key: string) => void;
  onMove: (key: string, to: number) => void;
}

export function ModeIcon({ part, size = 16 }: { part: Part; size?: number }) {
  const mode = modeOf(part);
  if (mode === 'agentic' && textAt(part.definition, '/execution/agent_config/discussion_mode') === 'council') return <Icon name="team" size={size} />;
  if (mode === 'agentic') return <StatusMark icon="checkpoint" size={size} />;
  return <Icon name={mode === 'script' ? 'script' : 'person'} size={size} />;
}

export function List({ draft, selected, wrong, off, onSelect, onMove }: Props) {
  const keys = draft.parts.map((part) => part.key);
  const [dragged, setDragged] = useState<string>();
  const [over, setOver] = useState<string>();
  const sensors = useSensors(useSensor(PointerSensor, { activationConstraint: { distance: 4 } }), useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }));
  const place = (id: string | number | undefined) => keys.indexOf(String(id));
  const say = (id: string | number, at: number) => `${nameOf(draft.parts[place(id)] as Part)}, position ${at + 1} of ${keys.length}`;
  const stop = () => {
    setDragged(undefined);
    setOver(undefined);
  };
  const end = ({ active, over: onto }: DragEndEvent) => {
    stop();
    if (onto && onto.id !== active.id) onMove(String(active.id), place(onto.id));
  };
  const lifted = draft.parts.find((part) => part.key === dragged);
  const down = dragged !== undefined && over !== undefined && place(over) > place(dragged);
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      onDragStart={({ active }) => setDragged(String(active.id))}
      onDragOver={({ over: onto }: DragOverEvent) => setOver(onto ? String(onto.id) : undefined)}
      onDragEnd={end}
      onDragCancel={stop}
      accessibility={{
        announcements: {
          onDragStart: ({ active }) => `Picked up ${say(active.id, place(active.id))}`,
          onDragOver: ({ active, over: onto }) => (onto ? say(active.id, place(onto.id)) : undefined),
          onDragEnd: ({ active, over: onto }) => (onto ? `Put down ${say(active.id, place(onto.id))}` : 'Put back'),
          onDragCancel: () => 'Put back',
        },
      }}
    >
      {/* Nothing shifts while dragging: a line shows where it will stand. */}
      <SortableContext items={keys} strategy={() => null}>
        <ol aria-label="Checkpoints">
          {draft.parts.map((part, at) => (
            <Entry
              key={part.key}
              part={part}
              at={at}
              selected={part.key === selected}
              wrong={wrong.has(part.key)}
              off={off}
              lifted={part.key === dragged}
              line={over === part.key && over !== dragged ? (down ? 'below' : 'above') : undefined}
              onSelect={() => onSelect(part.key)}
            />
          ))}
        </ol>
      </SortableContext>
      <DragOverlay dropAnimation={null}>
        {lifted && (
          <div className="-rotate-[0.6deg] rounded-3 border border-line-2 bg-raised shadow-2">
            <Body part={lifted} at={place(dragged)} meta={`${about(lifted)}${over && over !== dragged ? `. Was ${place(dragged) + 1}` : ''}`} shown={over ? place(over) : place(dragged)} />
          </div>
        )}
      </DragOverlay>
    </DndContext>
  );
}

function Body({ part, meta, shown }: { part: Part; at: number; meta: string; shown: number }) {
  return (
    <div className="grid grid-cols-[18px_16px_1fr] items-start gap-x-[7px] py-2 pr-[14px] pl-9">
      <span className="text-right font-mono text-[11px] leading-5 text-ink-2">{shown + 1}</span>
      <span className="mt-0.5">
        <ModeIcon part={part} />
      </span>
      <span className="min-w-0">
        <span className="block truncate font-name">{nameOf(part) || 'No name'}</span>
        <span className="block truncate text-small leading-[17px] text-ink-2">{meta}</span>
      </span>
    </div>
  );
}

interface EntryProps {
  part: Part;
  at: number;
  selected: boolean;
  wrong: boolean;
  off: boolean;
  lifted: boolean;
  line: 'above' | 'below' | undefined;
  onSelect: () => void;
}

function Entry({ part, at, selected, wrong, off, lifted, line, onSelect }: EntryProps) {
  const { attributes, listeners, setNodeRef, setActivatorNodeRef } = useSortable({ id: part.key, disabled: off });
  const { before, after } = holds(part);
  return (
    <li ref={setNodeRef} data-checkpoint={part.key} className={clsx('relative', lifted && 'opacity-45')}>
      {line && <span aria-hidden="true" className={clsx('absolute right-[14px] left-2 z-10 border-t-2 border-ink before:absolute before:-top-[5px] before:-left-[3px] before:size-2 before:rounded-full before:border-2 before:border-ink before:bg-surface', line === 'above' ? 'top-0' : 'bottom-0')} />}
      {before && <Hold>{before}</Hold>}
      <div className={clsx('relative', selected ? 'selected-row' : 'hover:bg-hover')}>
        <button type="button" onClick={onSelect} aria-current={selected ? 'true' : undefined} className="block w-full rounded-1 text-left focus-visible:-outline-offset-2">
          <Body part={part} at={at} meta={about(part)} shown={at} />
          <span className="sr-only">
            , {MODE_WORDS[modeOf(part)]}
            {wrong && ', something to fix'}
          </span>
        </button>
        {wrong && <StatusMark icon="failed" tone="fail" size={14} className="absolute top-[11px] right-[14px]" />}
        {!off && (
          <button type="button" ref={setActivatorNodeRef} {...attributes} {...listeners} aria-label={`Move ${nameOf(part)}`} className="absolute top-1.5 left-1.5 grid size-6 cursor-grab max-tablet:top-0 max-tablet:left-0 max-tablet:h-11 max-tablet:w-9 touch-none place-items-center rounded-1 text-edge hover:text-ink-2">
            <Icon name="grip" />
          </button>
        )}
      </div>
      {after && <Hold>{after}</Hold>}
    </li>
  );
}

const HOLD =
  'linear-gradient(var(--color-ink-3) 0 0) top / 100% 2.5px no-repeat, repeating-linear-gradient(90deg, var(--color-ink-3) 0 5px, transparent 5px 8.5px) bottom / 100% 2.5px no-repeat';

/** The hold line, lying: what stands below waits for a word. */
const Hold = ({ children }: { children: string }) => (
  <p className="flex h-5 items-center gap-[9px] pr-[14px] pl-14 text-label text-ink-3">
    <span aria-hidden="true" className="h-[7px] w-[26px] flex-none" style={{ background: HOLD }} />
    <span className="truncate">{children}</span>
  </p>
);
