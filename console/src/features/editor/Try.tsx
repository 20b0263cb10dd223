/** A look at what a checkpoint will do, before anything runs. */
import { listAt, look, modeOf, nameOf, textAt } from '@/model/definition';
import { count } from '@/model/figures';
import { told, tokens } from '@/model/prompts';
import { Button } from '@/ui/Button';
import { Copy } from '@/ui/CopyAs';
import { Dialog } from '@/ui/overlays';
import { useEditing } from './context';
import { TryForm } from './TryForm';

export function Try({ pipeline, onClose }: { pipeline: string; onClose: () => void }) {
  const { draft, part, definition } = useEditing();
  if (!part) return null;
  if (modeOf(part) === 'human_only') return <TryForm onClose={onClose} />;
  const script = modeOf(part) === 'script';
  const command = `holdpoint pipeline run ${JSON.stringify(pipeline)}`;
  return (
    <Dialog open onClose={onClose} title={`Try ${nameOf(part)}`} about={script ? 'What the script is called with.' : 'What each agent is told, as far as the definition says it. What a run gives stands in brackets.'} className="w-[min(760px,calc(100vw-32px))]!">
      <div className="flex flex-col gap-4">
        {script ? (
          <Told title="The call" text={`${textAt(definition, '/execution/script_config/script_path') || 'no path yet'}: ${textAt(definition, '/execution/script_config/entry_function') || 'main'}(**${JSON.stringify(look(definition, '/execution/script_config/parameters') ?? {}, null, 2)})`} />
        ) : (
          told(draft, part).map((agent, at) => (
            <section key={at} aria-label={agent.name}>
              <h3 className="mb-1 font-name">{agent.name}</h3>
              {agent.system && <Told title="System prompt" text={agent.system} />}
              <Told title="Message" text={agent.user} />
            </section>
          ))
        )}
        {script && (
          <p className="text-small text-ink-2">
            It finds its places in HOLDPOINT_STAGING, HOLDPOINT_WORKSPACE and HOLDPOINT_INPUTS, and has to leave{' '}
            {listAt(definition, '/output/artifacts').length === 0 ? 'nothing: no output is declared' : `${listAt(definition, '/output/artifacts').map((one) => `${textAt(one, '/name')}.${textAt(one, '/format')}`).join(', ')} in the staging folder`}.
          </p>
        )}
        <div>
          <div className="mb-1 flex items-center justify-between">
            <span className="label">Run it</span>
            <Copy text={command} label="Copy the command">
              Copy
            </Copy>
          </div>
          <pre className="fact scroll-pane rounded-2 bg-sunken px-2 py-1.5">{command}</pre>
          <p className="mt-1 text-small text-ink-3">{script ? 'Runs what is saved.' : 'Runs what is saved. With the model script/FILE the answers are played from a file, and nothing is paid.'}</p>
        </div>
        <div className="flex justify-end">
          <Button onClick={onClose} hint="escape">
            Close
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Told({ title, text }: { title: string; text: string }) {
  return (
    <div className="mb-2">
      <div className="flex items-center justify-between">
        <span className="label">{title}</span>
        <span className="fact text-ink-3">about {count(tokens(text))} tok</span>
      </div>
      <pre tabIndex={0} aria-label={title} className="scroll-pane max-h-56 rounded-2 bg-sunken px-3 py-2 font-mono text-[12px] leading-5 whitespace-pre-wrap">
        {text}
      </pre>
    </div>
  );
}
