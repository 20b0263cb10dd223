/** The editor of one pipeline: its checkpoints, the form of the chosen one, and the file beside it. */
import { Link, useBlocker, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { useApplyDefinition, useLatestPipeline } from '@/api/hooks/pipelines';
import { Problem } from '@/api/problem';
import type { Me, Pipeline } from '@/api/types';
import { changed as changesOf, type Draft, type Json, type Loose, type Mode, moved, nameOf, type Part, put, sent, without } from '@/model/definition';
import { type Fault, localFaults, merged, serverFaults } from '@/model/definition-faults';
import { textOf, type Unread } from '@/model/definition-file';
import { made } from '@/model/definition-made';
import { difference } from '@/model/difference';
import { many } from '@/model/figures';
import { hasRole } from '@/model/rights';
import { Tag } from '@/ui/Badge';
import { Button } from '@/ui/Button';
import { caps } from '@/ui/Keys';
import { CopyAs } from '@/ui/CopyAs';
import { Diff } from '@/ui/Diff';
import { useOffline } from '@/ui/HintBar';
import { Icon, StatusMark } from '@/ui/Icon';
import { useNarrow, usePhone } from '@/ui/media';
import { Confirm, Dialog, Menu } from '@/ui/overlays';
import { Page } from '@/ui/page';
import { useShortcut } from '@/ui/shortcuts';
import { Empty } from '@/ui/states';
import { SegmentedControl } from '@/ui/Tabs';
import { toast } from '@/ui/toast';
import { Checkpoint } from './Checkpoint';
import { type Editing, EditingContext } from './context';
import { FileSide } from './FileSide';
import { GraphView } from './GraphView';
import { List } from './List';
import { PipelineFields } from './PipelineFields';
import { SaveBar } from './SaveBar';
import { Try } from './Try';
import { useDraft } from './useDraft';
import { useVerdict } from './useVerdict';

const PIPELINE = 'pipeline';
const STRUCTURE = new Set(['added', 'removed', 'reordered']);
type Ask = 'try' | 'save' | 'replace' | 'discard' | 'compare' | 'remove';

export function Editor({ pipeline, me }: { pipeline: Pipeline; me: Me | undefined }) {
  const id = pipeline.pipeline_id;
  const search = useSearch({ from: '/shell/pipelines/$pipelineId/edit' });
  const navigate = useNavigate({ from: '/pipelines/$pipelineId/edit' });
  const narrow = useNarrow();
  const phone = usePhone();
  const offline = useOffline();
  const { base, stamp, now, past, dispatch } = useDraft(pipeline);
  const [focused, setFocused] = useState<string>();
  const [unread, setUnread] = useState<Unread>();
  const [brokenAt, setBrokenAt] = useState<Record<string, string>>({});
  const [ask, setAsk] = useState<Ask>();
  const [said, setSaid] = useState('');
  const save = useApplyDefinition();

  const admin = hasRole(me, 'admin');
  const off = !admin;
  const changed = useMemo(() => changesOf(base, now), [base, now]);
  const dirty = changed.words.length > 0;
  // Text that cannot be read is in no draft: it is in the way of leaving all the same.
  const losing = dirty || unread !== undefined;
  const fresh = useVerdict(id, now, pipeline.runs.active_run_ids.join(), admin && dirty && !offline);

  // Somebody else saved: what is not being changed here follows, else they are asked.
  const meanwhile = pipeline.updated_at !== stamp;
  if (meanwhile && !dirty && !save.isPending) dispatch({ act: 'saved', pipeline });

  const part = now.parts.find((one) => one.key === search.checkpoint) ?? (search.checkpoint === PIPELINE ? undefined : now.parts[0]);
  const selected = part?.key;
  const view = search.view === 'graph' ? 'graph' : 'list';
  const side = search.part === 'file' ? 'file' : search.part === 'form' ? 'form' : undefined;
  const select = useCallback(
    (key: string) => {
      setFocused(undefined);
      void navigate({ search: (before) => ({ ...before, checkpoint: key, part: narrow ? 'form' : before.part }), replace: true });
    },
    [navigate, narrow],
  );
  const show = (what: { view?: string | undefined; part?: string | undefined }) => void navigate({ search: (before) => ({ ...before, ...what }), replace: true });

  const edit = useCallback(
    (field: string, change: (draft: Draft) => Draft) => {
      if (off) return;
      setUnread(undefined);
      save.reset();
      dispatch({ act: 'edit', change, field, at: Date.now() });
    },
    [dispatch, off, save],
  );

  const faults = useMemo<Fault[]>(() => {
    const server = fresh?.problem ? serverFaults(fresh.problem.errors, now) : [];
    const typed = Object.entries(brokenAt).flatMap(([at, message]) => {
      const [key = '', pointer = ''] = at.split(/(?=\/)(.*)/s);
      return now.parts.some((one) => one.key === key) ? [{ key, pointer, message }] : [];
    });
    return dirty || typed.length > 0 ? [...typed, ...merged(localFaults(now), server)] : [];
  }, [fresh, now, brokenAt, dirty]);
  const refusal = fresh?.problem && fresh.problem.errors.length === 0 ? fresh.problem : undefined;

  const editing = useMemo<Editing>(() => {
    const place = now.parts.findIndex((one) => one.key === selected);
    const savedAt = base.parts.findIndex((one) => one.key === selected);
    const whole = (draft: Draft): Loose => ({ pipeline_name: draft.name, pipeline_description: draft.description, config: draft.config });
    const change = (field: string, next: (definition: Loose) => Loose) =>
      edit(`${selected ?? ''}${field}`, (draft) => {
        if (selected === undefined) {
          const after = next(whole(draft));
          return { ...draft, name: String(after.pipeline_name ?? ''), description: String(after.pipeline_description ?? ''), config: after.config as Loose };
        }
        return { ...draft, parts: draft.parts.map((one) => (one.key === selected ? { ...one, definition: next(one.definition) } : one)) };
      });
    return {
      draft: now,
      part,
      definition: part ? part.definition : whole(now),
      saved: selected === undefined ? whole(base) : base.parts[savedAt]?.definition,
      faults: faults.filter((fault) => fault.key === selected),
      notes: pipeline.warnings.filter((one) => one.pointer.startsWith(`/checkpoints/${savedAt}/`) && place >= 0).map((one) => ({ ...one, pointer: one.pointer.replace(/^\/checkpoints\/\d+/, '') })),
      off: off || unread !== undefined,
      change,
      set: (pointer: string, value: Json | undefined) => change(pointer, (definition) => put(definition, pointer, value)),
      focus: setFocused,
      broken: (pointer, message) =>
        setBrokenAt((before) => {
          const at = `${selected ?? ''}${pointer}`;
          const rest = Object.fromEntries(Object.entries(before).filter(([other]) => other !== at));
          return message === undefined ? rest : { ...rest, [at]: message };
        }),
    };
  }, [now, base, part, selected, faults, pipeline.warnings, off, unread, edit]);

  const add = (mode: Mode) => {
    const next = made(now, mode);
    const at = part ? now.parts.indexOf(part) + 1 : now.parts.length;
    edit(`add ${next.key}`, (draft) => ({ ...draft, parts: [...draft.parts.slice(0, at), next, ...draft.parts.slice(at)] }));
    setSaid(`${nameOf(next)} added, position ${at + 1} of ${now.parts.length + 1}`);
    select(next.key);
  };
  const move = (key: string, to: number) => {
    const next = moved(now, key, to);
    if (next === now) return;
    edit(`move ${key}`, () => next);
    setSaid(`${nameOf(next.parts[to] as Part)}, position ${to + 1} of ${next.parts.length}`);
  };
  const remove = () => {
    if (!part) return;
    const at = now.parts.indexOf(part);
    edit(`remove ${part.key}`, (draft) => without(draft, part.key));
    setAsk(undefined);
    const next = now.parts[at + 1] ?? now.parts[at - 1];
    select(next?.key ?? PIPELINE);
  };
  const step = (by: number) => part && move(part.key, now.parts.indexOf(part) + by);
  const walk = (by: number) => {
    const next = now.parts[now.parts.findIndex((one) => one.key === selected) + by];
    if (next) select(next.key);
  };

  const restarts = changed.structure !== undefined && pipeline.runs.total > 0;
  const active = pipeline.runs.active_run_ids;
  const blocked = changed.structure !== undefined && active.length > 0;
  const bumps = fresh?.changes.filter((one) => STRUCTURE.has(one.change)).length ?? 0;
  const verb = bumps > 0 ? `Save as definition ${pipeline.pipeline_definition_version + bumps}` : 'Save changes';
  const saveOff = !admin
    ? `Your role is ${me?.role ?? 'none'}; changing a definition needs admin.`
    : (offline ?? (unread ? 'The file cannot be read yet.' : !dirty ? 'Nothing to save.' : faults.length > 0 ? `${many(faults.length, 'thing')} to fix first.` : blocked ? 'Runs are active: the order stays until they end.' : undefined));
  const store = () => {
    const at = now.parts.findIndex((one) => one.key === selected);
    save.mutate(sent(now, id), {
      onSuccess: ({ pipeline: next }) => {
        setAsk(undefined);
        if (!next) return;
        dispatch({ act: 'saved', pipeline: next });
        setBrokenAt({});
        const key = at < 0 ? PIPELINE : next.checkpoints[at]?.checkpoint_id;
        if (key) select(key);
        toast(next.pipeline_definition_version === pipeline.pipeline_definition_version ? `Saved ${next.pipeline_name}` : `Saved as definition ${next.pipeline_definition_version}`);
      },
      onError: () => setAsk(undefined),
    });
  };
  const latest = useLatestPipeline(id);
  const [looking, setLooking] = useState(false);
  const trySave = async () => {
    if (saveOff || looking) return;
    // What somebody else saved is not replaced by accident, however shortly before this it was.
    setLooking(true);
    const saved = await latest().catch(() => undefined);
    setLooking(false);
    if (saved && saved.updated_at !== stamp) setAsk('replace');
    else if (restarts) setAsk('save');
    else store();
  };

  const goTo = (fault: Fault) => {
    void navigate({ search: (before) => ({ ...before, checkpoint: fault.key ?? PIPELINE, view: undefined, part: narrow ? 'form' : before.part }), replace: true });
    setFocused(fault.pointer);
    // The form of another checkpoint has to be drawn first.
    setTimeout(() => reach(fault.pointer), 60);
  };

  useShortcut(!off && part ? 'alt+arrowup' : undefined, 'move checkpoint', () => step(-1), { order: 10, repeats: true });
  useShortcut(!off && part ? 'alt+arrowdown' : undefined, 'move checkpoint', () => step(1), { order: 10, repeats: true });
  useShortcut('j', 'choose', () => walk(1), { hint: false, repeats: true });
  useShortcut('k', 'choose', () => walk(-1), { hint: false, repeats: true });
  useShortcut('g f', 'form or file', () => (narrow ? show({ part: side === 'file' ? 'form' : 'file' }) : crossOver()), { order: 24 });
  useShortcut(past.length > 0 ? 'mod+z' : undefined, 'undo', () => dispatch({ act: 'undo' }), { order: 26, repeats: true });
  useShortcut('mod+shift+z', 'do again', () => dispatch({ act: 'redo' }), { hint: false, repeats: true });
  // The button that shows the key is off while nothing is to save; the browser's own dialog is never wanted.
  useShortcut(saveOff ? 'mod+s' : undefined, 'save', () => faults[0] && goTo(faults[0]), { hint: false });

  const blocker = useBlocker({ shouldBlockFn: ({ current, next }) => losing && current.pathname !== next.pathname, withResolver: true, enableBeforeUnload: () => losing });

  const adders = (
    <Menu
      align="start"
      trigger={
        <Button kind="quiet" size="small" icon="plus" hint="n" id="add-checkpoint">
          Add
        </Button>
      }
      items={[
        { label: 'Agents do it', icon: 'sessions', onSelect: () => add('agentic') },
        { label: 'A script does it', icon: 'script', onSelect: () => add('script') },
        { label: 'A person does it', icon: 'person', onSelect: () => add('human_only') },
      ]}
    />
  );
  useShortcut(off ? undefined : 'n', 'add', () => document.getElementById('add-checkpoint')?.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, button: 0, ctrlKey: false })), { order: 20 });

  const checkpoints = (
    <aside aria-label="Checkpoints" className="flex min-h-0 flex-col border-line bg-canvas max-desk:flex-1 desk:border-r">
      <div className="flex flex-none items-center justify-between px-[14px] pt-3 pb-1.5">
        <h2 className="label">Checkpoints</h2>
        {!off && adders}
      </div>
      <div className="scroll-pane min-h-0 flex-1 pb-3">
        <button type="button" onClick={() => select(PIPELINE)} aria-current={part === undefined ? 'true' : undefined} className={`flex min-h-8 max-tablet:min-h-11 w-full items-center gap-[7px] pr-[14px] pl-[37px] text-left focus-visible:-outline-offset-2 ${part === undefined ? 'selected-row' : 'hover:bg-hover'}`}>
          <Icon name="settings" className="ml-[18px] text-ink-3" />
          <span className="font-medium text-ink-2">The pipeline itself</span>
        </button>
        {now.parts.length === 0 ? (
          <Empty title="No checkpoints yet" className="m-3!">
            Each one is done by agents, a script or a person, and can hold for somebody’s word. Add the first one.
          </Empty>
        ) : (
          <List draft={now} selected={selected} wrong={new Set(faults.flatMap((fault) => (fault.key ? [fault.key] : [])))} off={off} onSelect={select} onMove={move} />
        )}
      </div>
      {(restarts || blocked) && (
        <div role="alert" className="m-3 flex-none rounded-3 border border-line-2 bg-raised px-3 py-[10px] text-small">
          <p className="mb-[3px] flex items-center gap-[7px] font-name">
            <StatusMark icon="note" size={14} />
            {blocked ? 'Runs are active' : changed.structure === 'order' ? 'New order, new numbers' : 'Other checkpoints, new numbers'}
          </p>
          {blocked ? (
            <>
              Checkpoints cannot be added, removed or moved until {active.length === 1 ? 'this run ends' : 'these runs end'}:{' '}
              {active.map((run) => (
                <Link key={run} to="/runs/$runId" params={{ runId: run }} className="mr-1 font-value underline underline-offset-2">
                  run {run.slice(-8)}
                </Link>
              ))}
            </>
          ) : (
            <>Saving this starts again at v1. {pipeline.runs.total === 1 ? 'The earlier run stays' : `${pipeline.runs.total} earlier runs stay`} readable, and the next run extends none of them.</>
          )}{' '}
          <button type="button" onClick={() => edit('structure', () => backInPlace(base, now))} className="rounded-1 font-value underline underline-offset-2">
            Put it back
          </button>
        </div>
      )}
    </aside>
  );

  const form = (
    <div className="scroll-pane min-h-0 min-w-0 flex-1 px-6 pt-4 pb-6 max-tablet:px-4" key={selected ?? PIPELINE}>
      {off && <p className="mb-3 rounded-2 border border-line px-3 py-2 text-small text-ink-2">{saveOff}</p>}
      {part ? <Checkpoint onDraft={(change) => edit('names', change)} onRemove={() => setAsk('remove')} /> : <PipelineFields />}
    </div>
  );
  const middle = view === 'graph' ? <GraphView draft={now} selected={selected} onSelect={select} onOpen={(key) => (select(key), show({ view: undefined }))} /> : form;
  const file = (
    <FileSide draft={now} base={base} selected={selected} focused={focused} faults={faults} off={off} onChange={(next) => (save.reset(), dispatch({ act: 'edit', change: () => next, field: 'file', at: Date.now() }))} unread={unread} onUnread={setUnread} />
  );

  return (
    <EditingContext value={editing}>
      <Page
        title={`Edit ${now.name}`}
        heading={
          <span className="flex min-w-0 items-center gap-2">
            <Link to="/pipelines" className="rounded-1 text-body font-medium tracking-normal text-ink-3 max-tablet:hidden">
              Pipelines /
            </Link>
            <span className="truncate">{now.name || 'No name'}</span>
          </span>
        }
        meta={
          <span className="max-tablet:hidden">
            <Tag>definition {pipeline.pipeline_definition_version}</Tag>
          </span>
        }
        actions={
          <>
            <SegmentedControl label="View" value={view} onChange={(next) => show({ view: next === 'graph' ? 'graph' : undefined, ...(narrow ? { part: 'form' } : {}) })} segments={[{ value: 'list', label: 'List' }, { value: 'graph', label: 'Graph' }]} />
            {!phone && <CopyAs what={{ command: 'holdpoint pipeline apply FILE', method: 'POST', path: '/api/pipelines/apply', body: sent(now, id) }} />}
            <Button size="small" keys="h" word="history" onClick={() => void navigate({ to: '/pipelines/$pipelineId/history', params: { pipelineId: id } })}>
              History
            </Button>
            <Button size="small" keys="t" word="try" off={part ? undefined : 'Choose a checkpoint first.'} offAt="hidden" onClick={() => setAsk('try')}>
              Try this checkpoint
            </Button>
          </>
        }
      >
        {meanwhile && dirty && (
          <div role="alert" className="flex flex-none flex-wrap items-center gap-3 border-b border-line bg-raised px-5 py-2">
            <StatusMark icon="note" />
            <span>Somebody changed this definition meanwhile. Saving yours replaces theirs.</span>
            <Button size="small" onClick={() => dispatch({ act: 'saved', pipeline })}>
              Take theirs
            </Button>
          </div>
        )}
        {narrow && (
          <div className="flex flex-none items-center gap-2 border-b border-line px-4 py-2">
            <SegmentedControl label="Pane" value={side ?? 'checkpoints'} onChange={(next) => show({ part: next === 'checkpoints' ? undefined : next })} segments={[{ value: 'checkpoints', label: 'Checkpoints' }, { value: 'form', label: view === 'graph' ? 'Graph' : 'Form' }, { value: 'file', label: 'File' }]} />
          </div>
        )}
        {narrow ? (
          <div className="flex min-h-0 flex-1 flex-col">{side === 'file' ? file : side === 'form' ? middle : checkpoints}</div>
        ) : (
          <div className="grid min-h-0 flex-1 grid-cols-[minmax(200px,272px)_minmax(0,1fr)_minmax(280px,408px)] grid-rows-[minmax(0,1fr)]">
            {checkpoints}
            <div className="flex min-h-0 min-w-0 flex-col">{middle}</div>
            <div className="flex min-h-0 min-w-0 flex-col border-l border-line">{file}</div>
          </div>
        )}
        <SaveBar draft={now} changed={changed} unread={unread !== undefined} faults={faults} problem={save.error ? Problem.of(save.error) : refusal && !blocked ? refusal : undefined} tried={save.error !== null} off={saveOff} busy={save.isPending || looking} verb={verb} onFault={goTo} onSave={() => void trySave()} onDiscard={() => setAsk('discard')} onCompare={() => setAsk('compare')} />
      </Page>
      <p aria-live="assertive" className="sr-only">
        {said}
      </p>
      {ask === 'try' && <Try id={id} onClose={() => setAsk(undefined)} />}
      {ask === 'compare' && (
        <Dialog open onClose={() => setAsk(undefined)} title={`Beside definition ${pipeline.pipeline_definition_version}`} className="w-[min(880px,calc(100vw-32px))]!">
          <div className="scroll-pane max-h-[65dvh] rounded-2 border border-line" tabIndex={0} role="region" aria-label="What differs">
            <Diff difference={difference(textOf(base, 'yaml'), textOf(now, 'yaml'))} label="What differs from what is saved" />
          </div>
        </Dialog>
      )}
      <Confirm
        open={ask === 'save'}
        onClose={() => setAsk(undefined)}
        title="Start again at v1?"
        verb={`${verb}, start at v1`}
        busy={save.isPending}
        onConfirm={store}
      >
        <ul className="list-disc pl-4">
          <li>{changed.structure === 'order' ? 'Checkpoints stand in another order' : changed.structure === 'added' ? 'A checkpoint was added' : 'A checkpoint was removed'}, so this is another pipeline to its runs.</li>
          <li>The next run is v1 and extends nothing.</li>
          <li>{many(pipeline.runs.total, 'earlier run')} up to v{pipeline.runs.latest_run_version} {pipeline.runs.total === 1 ? 'stays' : 'stay'} readable; the files move to the pipeline’s archive.</li>
          <li>It cannot be undone: putting the order back later starts again, too.</li>
        </ul>
      </Confirm>
      <Confirm open={ask === 'replace'} onClose={() => setAsk(undefined)} title="Replace what somebody else saved?" verb="Replace it with mine" danger busy={save.isPending} onConfirm={() => (restarts ? setAsk('save') : store())}>
        This definition was saved since you opened it. Saving yours puts all of it in its place; the one that was saved stays in the history.
      </Confirm>
      <Confirm open={ask === 'discard'} onClose={() => setAsk(undefined)} title="Discard what is not saved?" verb={`Discard ${many(changed.words.length, 'change')}`} danger onConfirm={() => (dispatch({ act: 'discard' }), setBrokenAt({}), setUnread(undefined), setAsk(undefined))}>
        {changed.words.join(', ')}. {caps('mod+z')} brings it back while you stay here.
      </Confirm>
      <Confirm open={ask === 'remove'} onClose={() => setAsk(undefined)} title={`Remove ${part ? nameOf(part) : ''}?`} verb={`Remove ${part ? nameOf(part) : ''}`} danger onConfirm={remove}>
        It leaves the definition when you save. What refers to it is taken out as well.{pipeline.runs.total > 0 && ' Run numbers start again at v1 then.'}
      </Confirm>
      <Confirm open={blocker.status === 'blocked'} onClose={() => blocker.reset?.()} title="Leave without saving?" verb="Leave, lose the changes" danger onConfirm={() => blocker.proceed?.()}>
        {dirty && `${many(changed.words.length, 'change')} not saved: ${changed.words.join(', ')}. `}
        {unread && 'What is written in the file cannot be read yet, and is not kept.'}
      </Confirm>
    </EditingContext>
  );
}

/** The checkpoints that were there, in the order that they had, with what was changed in them. */
function backInPlace(base: Draft, now: Draft): Draft {
  const has = new Map(now.parts.map((part) => [part.key, part]));
  return { ...now, parts: base.parts.map((part) => has.get(part.key) ?? part) };
}

/** Puts the cursor into a field, or into the nearest row around it, which is opened. */
function reach(pointer: string): void {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const place = document.querySelector<HTMLElement>(`[data-at="${CSS.escape(at)}"]`);
    if (!place) continue;
    const closed = at === pointer ? null : place.querySelector<HTMLButtonElement>('[aria-expanded=false]');
    if (closed) {
      closed.click();
      setTimeout(() => reach(pointer), 60);
      return;
    }
    place.scrollIntoView({ block: 'center' });
    place.querySelector<HTMLElement>('input,textarea,select,[contenteditable=true],button')?.focus();
    return;
  }
}

/** From the form into the file, or back. */
function crossOver(): void {
  const inFile = document.activeElement?.closest('.cm-editor');
  const target = inFile ? '[data-at] input, [data-at] textarea' : 'section[aria-label=File] .cm-content';
  document.querySelector<HTMLElement>(target)?.focus();
}
