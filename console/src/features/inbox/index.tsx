/** The inbox: everything that waits for a person, and the selected question beside it. One hand can clear it. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { useAnswered } from '@/api/hooks/inbox';
import { groups, type Question, type Show } from '@/model/inbox';
import { Button } from '@/ui/Button';
import { usePhone } from '@/ui/media';
import { Page } from '@/ui/page';
import { useShortcut } from '@/ui/shortcuts';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { SegmentedControl } from '@/ui/Tabs';
import { Answered } from './Answered';
import { isAnsweredHere } from './answered-here';
import { Gone } from './Gone';
import { List } from './List';
import { Preview } from './Preview';
import { useQuestions } from './useQuestions';

const SHOWS: Show[] = ['mine', 'anyone', 'others', 'answered'];
const midnight = () => new Date(new Date().setHours(0, 0, 0, 0)).toISOString();

export default function Inbox() {
  const search = useSearch({ from: '/shell/inbox' });
  const navigate = useNavigate({ from: '/inbox' });
  const phone = usePhone();
  const { all, runs, inbox } = useQuestions();
  const since = useMemo(() => midnight(), []);
  const { events: today, more } = useAnswered(since);
  const show: Show = SHOWS.includes(search.show as Show) ? (search.show as Show) : 'mine';
  const oldest = search.order === 'oldest';
  const { yours, others } = useMemo(() => groups(all, show, oldest), [all, show, oldest]);
  const shown = useMemo(() => [...yours, ...others], [yours, others]);
  // An answered question goes; what stood at its place is selected then.
  const [place, setPlace] = useState(0);
  // One that somebody else has answered is said to be gone, before another one stands in its place.
  const [last, setLast] = useState<Question>();
  const known = search.item ?? last?.key;
  const found = shown.findIndex((one) => one.key === known);
  const isOver = last !== undefined && last.key === known && inbox.data !== undefined && !all.some((one) => one.key === last.key);
  const gone = isOver && !isAnsweredHere(last.key) ? last : undefined;
  const at = found >= 0 ? found : Math.min(place, shown.length - 1);
  const selected: Question | undefined = gone ? undefined : shown[at];
  if (selected && selected !== last) setLast(selected);
  const select = useCallback(
    (key: string | undefined) => {
      setPlace(Math.max(0, shown.findIndex((one) => one.key === key)));
      void navigate({ search: (now) => ({ ...now, item: key }), replace: true });
    },
    [navigate, shown],
  );
  const move = (by: number) => {
    // Where one has gone, the next one stands at its place already.
    const next = shown[Math.max(0, Math.min(shown.length - 1, gone && by > 0 ? at : at + by))];
    if (next) select(next.key);
  };
  useShortcut(shown.length > 0 ? 'j' : undefined, 'move', () => move(1), { order: 10, repeats: true });
  useShortcut(shown.length > 0 ? 'k' : undefined, 'move', () => move(-1), { order: 10, repeats: true });
  const mine = all.filter((one) => one.mine);
  const segments = [
    { value: 'mine', label: 'Mine', count: mine.length },
    { value: 'anyone', label: 'Anyone', count: mine.filter((one) => one.open).length },
    { value: 'others', label: 'Others', count: all.length - mine.length },
    { value: 'answered', label: 'Answered today', count: more ? `${today.length}+` : today.length },
  ];
  const switcher = (
    <SegmentedControl label="Which questions" value={show} segments={segments} onChange={(next) => void navigate({ search: (now) => ({ ...now, show: next === 'mine' ? undefined : next, item: undefined }) })} />
  );
  const going = [...runs.values()].filter((run) => run.status === 'in_progress').length;
  const empty = (
    <Empty
      title={show === 'others' ? 'Nobody else is waited for' : 'Nothing waits for you'}
      action={
        <Button size="small" keys="s" onClick={() => void navigate({ to: '/pipelines' })}>
          Start a run
        </Button>
      }
    >
      When a run reaches a hold point that {show === 'others' ? 'somebody else must' : 'you may'} answer, it stands here.
      {going > 0 && ` ${going === 1 ? '1 run is' : `${going} runs are`} going.`}
    </Empty>
  );
  return (
    <Page title="Inbox" meta={inbox.data && (mine.length > 0 ? `${mine.length} ${mine.length === 1 ? 'needs' : 'need'} you` : 'nothing needs you')} actions={phone && all.length === 0 ? undefined : switcher}>
      {inbox.error ? (
        <ErrorBlock title="The inbox could not be read" problem={inbox.error} className="m-5 max-w-[560px]" action={<Button size="small" onClick={() => void inbox.refetch()}>Try again</Button>} />
      ) : inbox.isPending ? (
        <Loading label="Needs you" />
      ) : show === 'answered' ? (
        <Answered events={today} more={more} />
      ) : shown.length === 0 && !gone ? (
        empty
      ) : phone ? (
        <div className="scroll-pane min-h-0 flex-1">
          {gone && <Gone question={gone} events={today} />}
          <List yours={yours} others={others} selected={selected} onSelect={select} oldest={oldest} open={selected && <Preview key={selected.key} question={selected} phone />} />
        </div>
      ) : (
        <div className="grid min-h-0 flex-1 grid-cols-[minmax(280px,424px)_minmax(0,1fr)] huge:grid-cols-[480px_minmax(0,1fr)]">
          <div className="scroll-pane min-h-0 border-r border-line">
            <List yours={yours} others={others} selected={selected} onSelect={select} oldest={oldest} onOrder={() => void navigate({ search: (now) => ({ ...now, order: oldest ? undefined : 'oldest' }) })} />
            {yours.length === 0 && show === 'mine' && empty}
          </div>
          {gone && <Gone question={gone} events={today} onNext={shown.length > 0 ? () => move(1) : undefined} />}
          {selected && <Preview key={selected.key} question={selected} />}
        </div>
      )}
    </Page>
  );
}
