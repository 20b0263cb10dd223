/** What came of a try: how it ended, who would be asked, what agents would be told, what was made, and the price. */
import type { ReactNode } from 'react';
import type { DryCheckpoint, DryRunReport } from '@/api/hooks/dry-runs';
import { count, many } from '@/model/figures';
import { trial } from '@/model/trial';
import { StatusMark } from '@/ui/Icon';
import { Money } from '@/ui/values';

export function Walked({ report, name }: { report: DryRunReport; name: string }) {
  const { reached, completed, said, errors, notes } = trial(report, name);
  return (
    <section aria-label="What came of it" className="flex flex-col gap-4 border-t border-line pt-4">
      <p className="flex items-center gap-2">
        <StatusMark icon={completed ? 'passed' : 'failed'} className={completed ? 'text-done' : 'text-fail'} />
        <span className="font-value">{said}</span>
        <span className="flex-1" />
        {reached && (
          <span className="fact text-ink-3">
            about <Money usd={reached.usage.cost_usd} />
          </span>
        )}
      </p>
      {errors.map((text) => (
        <p key={text} className="text-fail">
          {text}
        </p>
      ))}
      {reached && <Visit it={reached} />}
      {notes.length > 0 && (
        <Part title="To know">
          <ul className="flex list-disc flex-col gap-1 pl-4 text-small text-ink-2">
            {notes.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </Part>
      )}
    </section>
  );
}

function Visit({ it }: { it: DryCheckpoint }) {
  return (
    <>
      {it.gates.length > 0 && (
        <Part title="Who is asked">
          <ul className="flex flex-col gap-1">
            {it.gates.map((gate, at) => (
              <li key={at} className="flex items-start gap-2">
                <StatusMark icon="person-pending" className="mt-0.5" />
                <span className="min-w-0">
                  {gate.question}
                  <span className="block text-small text-ink-3">
                    {gate.by} said {typeof gate.answer === 'string' ? `“${gate.answer}”` : JSON.stringify(gate.answer)}
                    {gate.made_up && ', made up'}
                  </span>
                </span>
              </li>
            ))}
          </ul>
        </Part>
      )}
      {it.check && !it.check.passed && (
        <Part title="The judge">
          <p className="text-fail">{it.check.reasons.join(' ')}</p>
        </Part>
      )}
      {it.made.map((output) => (
        <Text key={output.name} title={`${output.name}${output.cut ? ', its beginning' : ''}`} text={output.text} />
      ))}
      {it.told.map((agent) => (
        <details key={agent.agent} open={it.told.length === 1}>
          <summary className="touch-target cursor-pointer rounded-1">
            {agent.agent} is told <span className="fact text-ink-3">about {count(agent.tokens)} tok</span>
          </summary>
          <div className="mt-2 flex flex-col gap-2">
            {agent.system && <Text title="System prompt" text={agent.system} />}
            <Text title="Message" text={agent.user} />
          </div>
        </details>
      ))}
      {it.usage.calls > 0 && <p className="text-small text-ink-3">{many(it.usage.calls, 'question')} to models, each answer taken for 500 tokens.</p>}
    </>
  );
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <div>
    <h3 className="label mb-1">{title}</h3>
    {children}
  </div>
);

const Text = ({ title, text }: { title: string; text: string }) => (
  <Part title={title}>
    <pre tabIndex={0} aria-label={title} className="scroll-pane max-h-56 rounded-2 bg-sunken px-3 py-2 font-mono text-[12px] leading-5 whitespace-pre-wrap">
      {text}
    </pre>
  </Part>
);
