/** The questions in two groups: what needs you, and what waits for others. */
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import type { Question } from '@/model/inbox';
import { Icon } from '@/ui/Icon';
import { GroupHeading } from '@/ui/page';
import { RowBody } from '@/ui/Row';
import { Money, Time } from '@/ui/values';

interface Props {
  yours: readonly Question[];
  others: readonly Question[];
  selected: Question | undefined;
  onSelect: (key: string) => void;
  oldest: boolean;
  onOrder?: () => void;
  /** On a phone the selected question opens in its place. */
  open?: ReactNode;
}

export function List({ yours, others, selected, onSelect, oldest, onOrder, open }: Props) {
  const draw = (one: Question) => (
    <li key={one.key}>{open && one.key === selected?.key ? open : <Item question={one} selected={!open && one.key === selected?.key} onSelect={onSelect} />}</li>
  );
  return (
    <>
      {yours.length > 0 && (
        <section aria-label="Needs you">
          {!open && (
            <GroupHeading
              end={
                <button type="button" onClick={onOrder} className="flex h-6 items-center gap-1 rounded-1 font-medium">
                  {oldest ? 'Oldest first' : 'Newest first'} <Icon name="down" size={14} className={oldest ? 'rotate-180' : undefined} />
                </button>
              }
            >
              Needs you
            </GroupHeading>
          )}
          <ul>{yours.map(draw)}</ul>
        </section>
      )}
      {others.length > 0 && (
        <section aria-label="Waiting on others">
          <GroupHeading end={others.length}>Waiting on others</GroupHeading>
          <ul>{others.map(draw)}</ul>
        </section>
      )}
    </>
  );
}

function Item({ question, selected, onSelect }: { question: Question; selected: boolean; onSelect: (key: string) => void }) {
  const row = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (selected) row.current?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    <Link
      ref={row}
      to="/inbox"
      search={(now) => ({ ...now, item: question.key })}
      replace
      onClick={() => onSelect(question.key)}
      aria-current={selected ? 'true' : undefined}
      className="block focus-visible:-outline-offset-2"
    >
      <RowBody
        status={question.status}
        dim={!question.mine}
        selected={selected}
        name={question.question}
        meta={
          <>
            <span className="font-medium text-ink-2">{question.pipeline}</span> {question.where}
          </>
        }
        right={<Time at={question.item.waiting_for.since} />}
        below={question.others ?? (question.cost === undefined ? undefined : <Money usd={question.cost} />)}
      />
    </Link>
  );
}
