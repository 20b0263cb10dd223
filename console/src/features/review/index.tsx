/** Review: the work at the left, what the checks and people said and the decision at the right. */
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { useInteractions } from '@/api/hooks/executions';
import { useMe } from '@/api/hooks/session';
import { fileName } from '@/model/artifacts';
import { askedSoFar, type Option } from '@/model/review';
import { isMine } from '@/model/rights';
import { unseen } from '@/model/seen';
import { execution as drawn } from '@/model/status';
import { shownAs } from '@/model/preview';
import { Badge, Tag } from '@/ui/Badge';
import { Button } from '@/ui/Button';
import { CodeView } from '@/ui/CodeView';
import { FormData } from '@/ui/FormData';
import { useNarrow, usePhone } from '@/ui/media';
import { Sheet } from '@/ui/overlays';
import { Page } from '@/ui/page';
import { useShortcut } from '@/ui/shortcuts';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { SegmentedControl } from '@/ui/Tabs';
import { Answers } from './Answers';
import { useTalk } from './comments';
import { Decision } from './Decision';
import { useDraft } from '@/ui/drafts';
import { FormFields, FormPanel, useForm } from './Form';
import { given, Reference } from './Reference';
import { PhoneBar } from './PhoneBar';
import { Moved, Settled } from './Settled';
import { Side } from './Side';
import { UNDECIDED } from './useDecided';
import { useReview } from './useReview';
import { type View, Work } from './Work';

const VIEWS: View[] = ['rendered', 'raw', 'diff', 'last'];
const OPTIONS: Record<string, Option> = { approve: 'approve', edit: 'edit', revise: 'revise', revision: 'revise', reject: 'reject' };

/** Another question is another screen: nothing of the one before is left on it. */
export default function ReviewScreen() {
  const { executionId } = useParams({ from: '/shell/review/$executionId' });
  return <Screen key={executionId} id={executionId} />;
}

function Screen({ id }: { id: string }) {
  const search = useSearch({ from: '/shell/review/$executionId' });
  const navigate = useNavigate({ from: '/review/$executionId' });
  const { data: me } = useMe();
  const phone = usePhone();
  const narrow = useNarrow();
  const review = useReview(id, search.artifact);
  const { execution, moved, mine, at, outputs, artifact } = review;
  const interactions = useInteractions(execution);
  const waiting = execution?.waiting_for ?? undefined;
  const set = (change: { view?: View; artifact?: string; do?: Option }) => void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const [edits, setEdits] = useDraft<Readonly<Record<string, string>>>(`edits ${waiting?.digest ?? id}`, {});
  const [pane, setPane] = useState('work');
  const [sheet, setSheet] = useState(false);
  const undecided = search.do === UNDECIDED;
  const option: Option | undefined = OPTIONS[search.do ?? ''] ?? (undecided ? undefined : 'approve');
  const talk = useTalk(`${id} ${execution?.revision_iteration ?? 0}`, artifact ? fileName(artifact) : '', () => (option === 'approve' || undecided) && set({ do: 'revise' }));
  const form = useForm(review, moved ? undefined : waiting);
  const open = (to: string | null | undefined) => to && void navigate({ to: '/review/$executionId', params: { executionId: to }, search: {} });
  const newer = at > 0 ? mine[at - 1]?.execution_id : undefined;
  const older = at >= 0 ? mine[at + 1]?.execution_id : mine.find((item) => item.execution_id !== id)?.execution_id;
  // What had the focus may have gone with the question before: it goes to what is asked now.
  const gate = waiting?.gate_id;
  useEffect(() => {
    if (document.activeElement === document.body) document.getElementById('main')?.focus({ preventScroll: true });
  }, [gate]);
  useShortcut('escape', 'inbox', () => {
    // The first press leaves what is being written, which stays.
    const writing = document.activeElement instanceof HTMLElement && document.activeElement.matches('input,textarea,select,[contenteditable=true]') ? document.activeElement : undefined;
    if (writing) writing.blur();
    else void navigate({ to: '/inbox' });
  }, { order: 20 });

  if (review.live.error && !execution)
    return (
      <Page title="Review">
        <ErrorBlock title="This could not be read" problem={review.live.error} className="m-5 max-w-[560px]" action={<Button size="small" onClick={() => void review.live.refetch()}>Try again</Button>} />
      </Page>
    );
  if (!execution)
    return (
      <Page title="Review">
        <Loading label="Review" />
      </Page>
    );

  const name = execution.checkpoint_name ?? 'Step';
  const pipeline = review.run?.pipeline_name ?? 'Run';
  const status = drawn(moved && review.fresh ? review.fresh : execution, (one) => isMine(me, one));
  const deciding = waiting?.kind === 'approve_complete';
  const editable = outputs.length > 0 && artifact !== undefined && shownAs(artifact) !== 'picture' && artifact.size_bytes <= 1_000_000;
  const editing = deciding && option === 'edit' && editable && !moved;
  const references = given(execution);
  const commentable = deciding && !moved && execution.revision_iteration < execution.max_revision_iterations;

  const work: ReactNode =
    form.form && !moved ? (
      <FormFields state={form} />
    ) : artifact ? (
      <Work
        execution={execution}
        outputs={outputs}
        content={moved ? undefined : review.content}
        seen={review.seen}
        artifact={artifact}
        before={review.before}
        last={review.last}
        view={VIEWS.includes(search.view as View) ? (search.view as View) : undefined}
        onView={(view) => set({ view })}
        onArtifact={(next) => set({ artifact: next })}
        talk={talk}
        asked={askedSoFar(interactions.items)}
        me={me?.name ?? 'You'}
        commentable={commentable}
        edit={
          editing
            ? {
                text: edits[artifact.artifact_name],
                onChange: (text) =>
                  setEdits(({ [artifact.artifact_name]: _, ...others }) => (text === undefined ? others : { ...others, [artifact.artifact_name]: text })),
              }
            : undefined
        }
      />
    ) : waiting?.kind === 'retry' && execution.error_details.last_error ? (
      <div className="flex min-h-0 flex-1 flex-col gap-3 p-5">
        <p className="max-w-[72ch]">{execution.error_details.last_error.error_message}</p>
        {execution.error_details.last_error.stack_trace && <CodeView text={execution.error_details.last_error.stack_trace} label="Where it failed" className="min-h-0 flex-1 rounded-2" />}
      </div>
    ) : execution.form_data ? (
      <div className="scroll-pane min-h-0 flex-1 p-5" tabIndex={0} role="region" aria-label="Filled in">
        <FormData data={execution.form_data} />
      </div>
    ) : references.length > 0 ? (
      <Reference all={references} />
    ) : (
      <Empty title="Nothing was made yet">{waiting?.kind === 'start' || waiting?.kind === 'approve_start' ? 'When the work has begun, what it makes stands here.' : 'What this step makes stands here when it is done.'}</Empty>
    );

  const done = () => {
    talk.clear();
    setEdits({});
    setSheet(false);
  };
  const panel: ReactNode =
    moved && review.fresh ? (
      <Moved decided={review.decided} fresh={review.fresh} shown={execution} onShow={() => void review.show()} />
    ) : !waiting || !review.about ? (
      <Settled execution={execution} next={older ?? newer ?? undefined} onNext={() => open(older ?? newer)} />
    ) : form.form ? (
      <FormPanel state={form} review={review} execution={execution} waiting={waiting} phone={phone} />
    ) : deciding ? (
      <Decision
        key={waiting.digest}
        review={review}
        about={review.about}
        execution={execution}
        waiting={waiting}
        option={option}
        onOption={(next) => set({ do: next })}
        comments={talk.all}
        edits={edits}
        editable={editable}
        phone={phone}
        onDone={done}
      />
    ) : (
      <Answers key={waiting.gate_id ?? waiting.kind} review={review} about={review.about} execution={execution} waiting={waiting} undecided={undecided} phone={phone} />
    );
  const beside = form.form && references.length > 0 ? <Reference all={references} /> : <Side execution={moved && review.fresh ? review.fresh : execution} spent={review.run?.usage.cost_usd} />;

  const heading = (
    <span className="flex min-w-0 items-center gap-[10px] text-body tracking-normal">
      <span className="truncate font-medium text-ink-2 max-tablet:hidden">{pipeline}</span>
      {execution.run_version != null && <Tag className="max-tablet:hidden">v{execution.run_version}</Tag>}
      <span className="truncate font-name max-tablet:text-[17px]">
        <span aria-hidden="true" className="font-medium text-ink-3 max-tablet:hidden">
          /{' '}
        </span>
        {name}
      </span>
    </span>
  );
  const mineToo = waiting !== undefined && !moved && isMine(me, waiting);
  const meta = (
    <Badge status={status} className="h-5!">
      {mineToo && waiting.kind !== 'retry' ? 'waiting for your answer' : undefined}
    </Badge>
  );
  const walk = mine.length > 0 && !phone && (
    <>
      <span className="text-small whitespace-nowrap text-ink-3">{at >= 0 ? `${at + 1} of ${mine.length}` : `${mine.length} in the inbox`}</span>
      <Button size="small" kind="quiet" keys="k" off={newer ? undefined : 'This is the newest.'} offAt="hidden" onClick={() => open(newer)}>
        newer
      </Button>
      <Button size="small" kind="quiet" keys={waiting ? 'j' : undefined} hint="j" off={older ? undefined : 'This is the oldest.'} offAt="hidden" onClick={() => open(older)}>
        older
      </Button>
    </>
  );

  if (phone)
    return (
      <Page title={`Review ${name}`} heading={heading} meta={meta}>
        <div className="flex min-h-0 flex-1 flex-col">
          <SegmentedControl label="Part" value={pane} onChange={setPane} className="m-2 self-start" segments={[{ value: 'work', label: form.form ? 'Form' : 'Work' }, { value: 'side', label: 'Checks and decisions' }]} />
          {pane === 'side' ? <div className="scroll-pane flex min-h-0 flex-1 flex-col border-t border-line bg-canvas">{beside}</div> : <div className="flex min-h-0 flex-1 flex-col border-t border-line">{work}</div>}
          <PhoneBar key={gate} missing={deciding && !moved ? unseen(outputs, review.seen) : undefined} mine={mineToo} deciding={deciding && !moved} verb={moved ? 'What happened' : waiting ? (!mineToo ? 'What is asked' : form.form ? `Send ${name}` : 'Answer') : 'How it stands'} onOpen={(next) => {
            if (next) set({ do: next });
            if (next === 'edit') setPane('work');
            setSheet(true);
          }} onSend={form.form && !moved ? form.send : undefined} busy={form.busy} ready={form.ready} hint={form.form ? form.hint : undefined} />
        </div>
        <Sheet open={sheet} onClose={() => setSheet(false)} title={name}>
          {panel}
        </Sheet>
      </Page>
    );
  return (
    <Page title={`Review ${name}`} heading={heading} meta={meta} actions={walk}>
      {narrow && <SegmentedControl label="Part" value={pane} onChange={setPane} className="m-2 self-start" segments={[{ value: 'work', label: form.form ? 'Form' : 'Work' }, { value: 'side', label: 'Decide' }]} />}
      <div className="grid min-h-0 flex-1 desk:grid-cols-[minmax(0,1fr)_388px] huge:grid-cols-[minmax(0,1fr)_480px]">
        {(!narrow || pane === 'work') && <div className="flex min-h-0 min-w-0 flex-col">{work}</div>}
        {(!narrow || pane === 'side') && (
          <aside aria-label="Checks and decision" className="flex min-h-0 flex-col border-l border-line bg-canvas max-desk:border-l-0">
            <div className="scroll-pane flex min-h-0 flex-1 flex-col" tabIndex={0} role="region" aria-label="Checks">
              {beside}
            </div>
            {panel}
          </aside>
        )}
      </div>
    </Page>
  );
}
