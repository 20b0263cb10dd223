/** The table of runs and checkpoints: one line of points per version, newest first. */
import clsx from 'clsx';
import { useEffect, useRef } from 'react';
import { useMe } from '@/api/hooks/session';
import type { Me } from '@/api/types';
import type { Chosen, Point, Version } from '@/model/rollback';
import { isMine } from '@/model/rights';
import { execution as executionStatus, run as runStatus, type Status } from '@/model/status';
import { HoldLine } from '@/ui/HoldLine';
import { StatusMark } from '@/ui/Icon';
import { Money, Time } from '@/ui/values';

interface Props {
  rows: readonly Version[];
  names: readonly string[];
  chosen: Chosen | undefined;
  /** Executions that the chosen point would take out. */
  going: ReadonlySet<string>;
  onChoose: (chosen: Chosen) => void;
}

const ARCHIVED: Status = { icon: 'archived', tone: 'ink-3', word: 'Archived' };
const PENDING: Status = { icon: 'pending', tone: 'ink-3', word: 'Not reached' };

export function Points({ rows, names, chosen, going, onChoose }: Props) {
  const { data: me } = useMe();
  return (
    <table className="w-full table-fixed border-collapse text-left" style={{ minWidth: 64 + 76 + names.length * 62 }}>
      <thead className="bg-canvas">
        <tr className="h-[26px] border-b border-line">
          <th scope="col" className="label w-[92px] pl-5 font-medium max-tablet:w-16 max-tablet:pl-4">
            <span className="sr-only">Version</span>
          </th>
          {names.map((name, at) => (
            <th key={at} scope="col" className="label max-w-[90px] px-1 text-center font-medium">
              <span className="block truncate" title={name}>
                {name}
              </span>
            </th>
          ))}
          <th scope="col" className="w-[104px] pr-5 max-tablet:w-[88px] max-tablet:pr-4">
            <span className="sr-only">When, and what it cost</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <Row key={row.id} row={row} columns={names.length} me={me} chosen={chosen} going={going} onChoose={onChoose} newest={at === 0} oldest={at === rows.length - 1} />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps extends Omit<Props, 'rows' | 'names'> {
  row: Version;
  columns: number;
  me: Me | undefined;
  newest: boolean;
  oldest: boolean;
}

function Row({ row, columns, me, chosen, going, onChoose, newest, oldest }: RowProps) {
  const here = chosen?.run === row.id;
  const mine = (waiting: Parameters<typeof isMine>[1]) => isMine(me, waiting);
  const line = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (here) line.current?.scrollIntoView({ block: 'nearest' });
  }, [here]);
  // Lists of runs leave out what is asked; the executions have it.
  const asks = row.points.findLast((point) => point.execution?.waiting_for)?.execution?.waiting_for ?? undefined;
  const status = row.run ? runStatus(row.run, mine, asks) : ARCHIVED;
  // Every run has as many cells as the table has columns, also one with fewer or more checkpoints.
  const cells = row.points.slice(0, Math.max(columns, row.points.length));
  return (
    <tr ref={line} className={clsx('h-[58px] border-b border-line', here && 'bg-select')}>
      <th scope="row" className="relative pl-5 max-tablet:pl-4">
        <span aria-hidden="true" className={clsx('absolute left-[27px] w-0 border-l-2 border-ink-2 max-tablet:left-[21px]', newest ? 'top-1/2' : 'top-0', oldest ? 'bottom-1/2' : 'bottom-0')} />
        <span aria-hidden="true" className={clsx('absolute top-1/2 left-[24px] size-2 -translate-y-1/2 rounded-full max-tablet:left-[18px]', row.archived ? 'left-[33px] border border-dashed border-ink-3 bg-surface' : 'ring-4 ring-surface', !row.archived && (status.tone === 'hold' ? 'bg-hold' : 'bg-ink-2'), here && 'ring-transparent')} />
        <span className={clsx('ml-[26px] font-name', row.archived && 'text-ink-3')}>v{row.version}</span>
      </th>
      {cells.map((point) => (
        <td key={point.position} className="relative p-0 text-center align-middle">
          <Cell row={row} point={point} last={point.position === cells.length - 1} next={cells[point.position + 1]} chosen={here && chosen.position === point.position} going={going} mine={mine} onChoose={onChoose} />
        </td>
      ))}
      {Array.from({ length: Math.max(0, columns - cells.length) }, (_, at) => (
        <td key={`none-${at}`} />
      ))}
      <td className="pr-5 text-right text-small leading-[17px] text-ink-3 max-tablet:pr-4">
        {row.run ? (
          <>
            {row.run.status === 'in_progress' || row.run.status === 'paused' ? status.word.toLowerCase() : <Time at={row.run.completed_at ?? row.run.created_at} as="moment" />}
            <br />
            <Money usd={row.run.usage.cost_usd} />
          </>
        ) : (
          'rolled back'
        )}
      </td>
    </tr>
  );
}

interface CellProps {
  row: Version;
  point: Point;
  next: Point | undefined;
  last: boolean;
  chosen: boolean;
  going: ReadonlySet<string>;
  mine: (waiting: Parameters<typeof isMine>[1]) => boolean;
  onChoose: (chosen: Chosen) => void;
}

function Cell({ row, point, next, last, chosen, going, mine, onChoose }: CellProps) {
  const { execution } = point;
  const leaves = execution !== undefined && going.has(execution.execution_id);
  const status = row.archived || leaves ? ARCHIVED : execution ? executionStatus(execution, mine) : PENDING;
  const solid = next?.execution !== undefined && !going.has(next.execution.execution_id);
  return (
    <>
      {!last && <span aria-hidden="true" className={clsx('absolute top-1/2 left-[calc(50%+13px)] w-[calc(100%-26px)] -translate-y-px border-t-2', solid ? 'border-ink-2' : 'border-dashed border-line-2')} />}
      {chosen && !last && <HoldLine state="passed" className="absolute top-1/2 left-full h-6 -translate-x-1/2 -translate-y-1/2 [--hold-line-color:var(--color-ink)]" />}
      {execution ? (
        <button
          type="button"
          onClick={() => onChoose({ run: row.id, position: point.position })}
          aria-pressed={chosen}
          className={clsx('touch-link relative inline-grid size-7 place-items-center rounded-full', chosen ? 'ring-2 ring-ink' : 'hover:bg-hover')}
          title={`${point.name}: ${status.word}`}
        >
          <StatusMark icon={status.icon} tone={status.tone} label={`v${row.version}, ${point.name}: ${leaves ? 'would be archived' : status.word}`} />
        </button>
      ) : (
        <span className="inline-grid size-7 place-items-center">
          <StatusMark icon={status.icon} tone={status.tone} label={`${point.name}: ${status.word}`} />
        </span>
      )}
    </>
  );
}

/** What the signs mean. */
export function Legend() {
  const signs = [
    ['done', 'done'],
    ['person-done', 'a person'],
    ['archived', 'archived, or would be'],
    ['failed', 'failed'],
  ] as const;
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 px-5 py-3 text-small text-ink-3 max-tablet:px-4">
      {signs.map(([icon, word]) => (
        <li key={icon} className="flex items-center gap-2">
          <StatusMark icon={icon} tone={icon === 'failed' ? 'fail' : icon === 'archived' ? 'ink-3' : 'ink-2'} size={14} /> {word}
        </li>
      ))}
    </ul>
  );
}
