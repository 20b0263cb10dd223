/** The selected question: where, what, what follows, four facts, the work, the checks, and the ways to answer. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMe } from '@/api/hooks/session';
import type { Me } from '@/api/types';
import { digest, names } from '@/model/figures';
import { firstChange } from '@/model/excerpt';
import { consequence, undone } from '@/model/consequences';
import type { Question } from '@/model/inbox';
import { covers } from '@/model/seen';
import { Tag } from '@/ui/Badge';
import { FormData } from '@/ui/FormData';
import { HoldLine } from '@/ui/HoldLine';
import { Keys } from '@/ui/Keys';
import { Seeing } from '@/ui/Seeing';
import { useSeen } from '@/ui/seen';
import { useShortcut } from '@/ui/shortcuts';
import { Fact, Facts, Money, Time } from '@/ui/values';
import { useWorkFont } from '@/ui/work';
import { Actions } from './Actions';
import { Checks } from './Checks';
import { Excerpt, Prose } from './Excerpt';
import { useWork, type Work } from './useWork';

export function Preview({ question, phone = false }: { question: Question; phone?: boolean }) {
  const work = useWork(question);
  const [marks, setMarks] = useState(true);
  const { waiting_for: waiting, execution_id: id } = question.item;
  useShortcut(work.before && !phone ? 'd' : undefined, 'diff', () => setMarks((now) => !now), { order: 30 });
  const { data: me } = useMe();
  const seen = useSeen(work.content);
  if (phone) return <PhoneCard question={question} work={work} />;
  const result = waiting.kind === 'approve_complete' || waiting.kind === 'guidance';
  return (
    <section aria-label="Selected question" className="relative flex min-h-0 min-w-0 flex-col">
      <div className="scroll-pane flex min-h-0 flex-1 flex-col gap-4 px-7 pt-[22px] pb-5">
        <div>
          <Where question={question} total={work.stands?.total} />
          <h2 className="mt-1.5 mb-1 text-question [text-wrap:pretty]">{question.question}</h2>
          <p className="text-ink-2">
            {story(work)} {follows(work, me)}
          </p>
        </div>
        <FactsOf question={question} work={work} />
        {waiting.kind === 'form' && waiting.form && (
          <section aria-label="The form" className="rounded-3 border border-line bg-raised">
            {waiting.form.instructions && <p className="border-b border-line px-4 py-2">{waiting.form.instructions}</p>}
            <ul className="px-4 py-1">
              {waiting.form.input_fields.map((field) => (
                <li key={field.name} className="flex min-h-[30px] items-center justify-between gap-4 border-b border-line last:border-0">
                  <span className="font-value">{field.label}</span>
                  <span className="text-small text-ink-3">
                    {field.type.replaceAll('_', ' ')}
                    {field.required && ', required'}
                  </span>
                </li>
              ))}
            </ul>
          </section>
        )}
        {result && <Excerpt work={work} marks={marks} onMarks={() => setMarks((now) => !now)} />}
        {result && work.others.length > 0 && id && (
          <Link to="/review/$executionId" params={{ executionId: id }} className="self-start text-small underline underline-offset-2">
            {work.others.length} more in review
          </Link>
        )}
        {waiting.form_data && work.outputs.length === 0 && <FormData data={waiting.form_data} />}
        {waiting.reasons && waiting.reasons.length > 0 && <Checks check={{ passed: false, reasons: waiting.reasons }} />}
        {result && work.execution.data?.check && !waiting.reasons?.length && <Checks check={work.execution.data.check} />}
      </div>
      <div className="flex flex-none gap-[14px] border-t border-line bg-canvas py-[14px] pr-7 pl-5">
        <HoldLine state={question.mine ? 'reached' : 'others'} />
        <div className="min-w-0 flex-1">
          <Actions question={question} work={work} />
          {waiting.digest && (
            <p className="mt-2 text-label text-ink-3">
              {covers(waiting.kind === 'approve_complete' ? work.outputs : [], seen)}: <span className="fact">{digest(waiting.digest)}</span>
            </p>
          )}
        </div>
      </div>
    </section>
  );
}

function Where({ question, total }: { question: Question; total: number | undefined }) {
  const { item } = question;
  return (
    <div className="flex items-center gap-2 text-small text-ink-3">
      <Link to="/runs/$runId" params={{ runId: item.run_id }} className="truncate font-value text-ink-2 hover:underline">
        {question.pipeline}
      </Link>
      {item.run_version != null && <Tag>v{item.run_version}</Tag>}
      <span className="truncate max-tablet:hidden">
        {item.checkpoint_position != null && total ? `Checkpoint ${item.checkpoint_position + 1} of ${total}, ` : ''}
        {item.checkpoint_name}
      </span>
      <span className="flex-1" />
      {item.execution_id && (
        <Link to="/review/$executionId" params={{ executionId: item.execution_id }} className="inline-flex flex-none items-center gap-1.5 text-ink-2 hover:text-ink max-tablet:hidden">
          Open review <Keys keys="enter" />
        </Link>
      )}
      <Time at={item.waiting_for.since} className="tablet:hidden" />
    </div>
  );
}

/** What led here, in one sentence. */
function story(work: Work): string {
  const execution = work.execution.data;
  if (!execution) return '';
  const asked = execution.human_interactions.findLast((one) => one.type.includes('revision') || one.type.includes('reject'));
  if (execution.revision_iteration > 0 && asked) return `Revision ${execution.revision_iteration + 1} answers what ${asked.actor ?? 'somebody'} asked for.`;
  return '';
}

/** What the answer leads to, and how it is undone. */
function follows({ about, stands, approved, point }: Work, me: Me | undefined): string {
  const around = { place: stands, approved, version: about.version, point, name: about.name, me };
  return `${consequence(about.waiting, undefined, around)} ${undone(about.waiting, undefined, around)}`.trim();
}

function FactsOf({ question, work }: { question: Question; work: Work }) {
  const { data: me } = useMe();
  const { waiting_for: waiting } = question.item;
  const { who } = waiting;
  const may = who.approvers?.length ? who.approvers.map((name) => (name === me?.name ? 'You' : name)) : question.mine ? ['You', `every ${who.role}`] : [`every ${who.role}`];
  return (
    <Facts>
      <Fact label="Asked">
        <Time at={waiting.since} as="moment" />, <Time at={waiting.since} as="since" />
      </Fact>
      <Fact label="Who may answer">{names(may)}</Fact>
      {work.changes && work.before && (
        <Fact label={`Changed since rev ${work.before.revision_iteration + 1}`}>
          <span className="text-done">+{work.changes.added}</span> <span className="text-fail">−{work.changes.removed}</span> words
        </Fact>
      )}
      {who.required_approvals && (
        <Fact label="Approvals">
          {who.approved_by?.length ?? 0} of {who.required_approvals}
          {who.approved_by?.length ? `, ${who.approved_by.join(', ')}` : ''}
        </Fact>
      )}
      {question.cost !== undefined && (
        <Fact label="Spent so far">
          <Money usd={question.cost} />
        </Fact>
      )}
    </Facts>
  );
}

/** The question opened in its place, on a phone: two buttons within reach of the thumb. */
function PhoneCard({ question, work }: { question: Question; work: Work }) {
  const { waiting_for: waiting, execution_id: id } = question.item;
  const { data: me } = useMe();
  useWorkFont(work.prose);
  const from = work.blocks ? firstChange(work.blocks) : 0;
  const few = work.blocks?.slice(from, from + 2);
  const places = work.changes?.places ?? 0;
  return (
    <section aria-label="Selected question" className="flex gap-[13px] border-y border-line bg-canvas pt-[14px] pr-4 pb-4 pl-3">
      <HoldLine state={question.mine ? 'reached' : 'others'} />
      <div className="min-w-0 flex-1">
        <Where question={question} total={work.stands?.total} />
        <h2 className="mt-[3px] mb-1 text-[20px] leading-[26px] tracking-[-0.02em]">{question.question}</h2>
        <p className="text-[13px] leading-[18px] text-ink-2">
          {story(work)} {follows(work, me)}
          {question.cost !== undefined && (
            <>
              {' '}
              <Money usd={question.cost} /> so far.
            </>
          )}
        </p>
        {few && few.length > 0 && work.artifact && (
          <Seeing content={work.content} record={work.artifact.artifact_record_id}>
            <div data-content={few.length === work.blocks?.length ? 'whole' : 'raw'} className="my-[10px] border-l-2 border-line-2 py-0.5 pl-3">
              <Prose blocks={few} marks />
            </div>
          </Seeing>
        )}
        {waiting.form_data && work.outputs.length === 0 && <FormData data={waiting.form_data} className="my-[10px]" />}
        <div className="mb-3 flex min-h-6 items-center justify-between">
          {id && (
            <Link to="/review/$executionId" params={{ executionId: id }} className="touch-link text-[13px] underline underline-offset-2">
              {places > 1 ? `Read all ${places} changes` : work.artifact ? 'Read all of it' : 'Open review'}
            </Link>
          )}
          {waiting.digest && <span className="fact text-ink-3">{digest(waiting.digest).split(' ')[1]}</span>}
        </div>
        <Actions question={question} work={work} phone />
      </div>
    </section>
  );
}
