/** Settings: who you are, who else may come in, how the console looks, and what the server is. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import clsx from 'clsx';
import { useEffect, useState } from 'react';
import { body, client } from '@/api/client';
import { usePipelines } from '@/api/hooks/pipelines';
import { useMe, useReady, useSignOut } from '@/api/hooks/session';
import { ROLES, scope } from '@/model/tokens';
import { Avatar } from '@/ui/Avatar';
import { Tag } from '@/ui/Badge';
import { Button } from '@/ui/Button';
import { caps } from '@/ui/Keys';
import { Switch } from '@/ui/fields';
import { Page } from '@/ui/page';
import { lettersOn, setLetters } from '@/ui/shortcuts';
import { ErrorBlock } from '@/ui/states';
import { SegmentedControl } from '@/ui/Tabs';
import { setTheme, type Theme, useTheme } from '@/ui/theme';
import { Command, Line, Part } from './parts';
import { Tokens } from './Tokens';

const PARTS = [
  ['you', 'You'],
  ['tokens', 'People and tokens'],
  ['roles', 'Roles'],
  ['appearance', 'Appearance'],
  ['server', 'Server'],
  ['providers', 'Providers'],
  ['messages', 'Notifications'],
] as const;

export default function Settings() {
  const { part } = useSearch({ from: '/shell/settings' });
  const navigate = useNavigate({ from: '/settings' });
  useEffect(() => {
    if (part) document.getElementById(part)?.scrollIntoView({ block: 'start' });
  }, [part]);
  return (
    <Page title="Settings">
      <div className="grid min-h-0 flex-1 desk:grid-cols-[200px_minmax(0,1fr)]">
        <nav aria-label="Parts of the settings" className="border-r border-line py-3 max-desk:hidden">
          <ul>
            {PARTS.map(([id, name]) => (
              <li key={id}>
                <button
                  type="button"
                  aria-current={part === id ? 'true' : undefined}
                  onClick={() => void navigate({ search: { part: id }, replace: true })}
                  className={clsx('flex h-[30px] w-full items-center px-5 text-left focus-visible:-outline-offset-2', part === id ? 'selected-row font-name' : 'text-ink-2 hover:bg-hover')}
                >
                  {name}
                </button>
              </li>
            ))}
          </ul>
        </nav>
        <div className="scroll-pane min-h-0 min-w-0 px-7 max-tablet:px-4" tabIndex={0} role="region" aria-label="Settings">
          <div className="max-w-[820px]">
            <You />
            <Tokens />
            <Part id="roles" title="Roles" about="Each may do all that the ones before it may. The server decides; what you may not do is shown, off, with the reason.">
              <dl>
                {ROLES.map((role) => (
                  <div key={role.value} className="grid gap-x-4 border-t border-line py-1 tablet:grid-cols-[160px_minmax(0,1fr)]">
                    <dt>
                      <Tag>{role.value}</Tag>
                    </dt>
                    <dd className="text-ink-2">{role.may}</dd>
                  </div>
                ))}
              </dl>
            </Part>
            <Appearance />
            <Server />
            <Part id="providers" title="Providers" about="Which models agents may use, and where. They are set in the configuration file on the server’s machine; this page cannot change them yet, and no key is ever shown here.">
              <Line label="What is set, and where">
                <Command text="holdpoint config show --origin" />
              </Line>
              <Line label="In config.toml">
                <pre className="fact scroll-pane rounded-2 bg-sunken p-3" tabIndex={0}>{`[llm.anthropic]\napi_key_env = "ANTHROPIC_API_KEY"\n\n[llm.local]\nbase_url = "http://127.0.0.1:8080"   # any OpenAI-compatible server`}</pre>
                <p className="mt-1 text-small text-ink-3">Keys are read from variables such as ANTHROPIC_API_KEY and OPENAI_API_KEY, or from a file. The server reads its settings when it starts.</p>
              </Line>
            </Part>
            <Part id="messages" title="Notifications" about="Notification channels and webhooks are not part of this version yet; what waits for somebody stands in the inbox, in the tab’s title, and in holdpoint inbox.">
              <Line label="In a terminal">
                <Command text="holdpoint inbox" />
              </Line>
            </Part>
          </div>
        </div>
      </div>
    </Page>
  );
}

function You() {
  const { data: me } = useMe();
  const signOut = useSignOut();
  const pipelines = usePipelines().data?.pages.flatMap((page) => page.items) ?? [];
  if (!me) return null;
  return (
    <Part id="you" title="You">
      <div className="flex flex-wrap items-center gap-3">
        <Avatar name={me.name} kind={me.kind} size={34} />
        <div className="min-w-0">
          <p className="font-name">{me.name}</p>
          <p className="text-small text-ink-3">
            {me.kind === 'agent' ? 'a program' : 'a person'}, {me.role}, {scope(me.pipelines, new Map(pipelines.map((one) => [one.pipeline_id, one.pipeline_name])))}
          </p>
        </div>
        <span className="flex-1" />
        <Button size="small" icon="out" busy={signOut.isPending} onClick={() => signOut.mutate()}>
          Sign out
        </Button>
      </div>
    </Part>
  );
}

function Appearance() {
  const theme = useTheme();
  const [letters, setOn] = useState(lettersOn);
  return (
    <Part id="appearance" title="Appearance" about="Kept in this browser alone.">
      <Line label="Theme">
        <SegmentedControl
          label="Theme"
          value={theme}
          onChange={(next) => setTheme(next as Theme)}
          segments={[
            { value: 'system', label: 'As the system' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
        />
      </Line>
      <Line label="Keyboard">
        <Switch
          label="Single letters are keys"
          checked={letters}
          onChange={(on) => {
            setLetters(on);
            setOn(on);
          }}
        />
        <p className="text-small text-ink-3">Off, only keys with {caps('mod')} work: for people who dictate, or whose keyboard sends letters by itself.</p>
      </Line>
    </Part>
  );
}

const SANDBOX: Record<string, string> = {
  full: 'full: code of scripts and agents sees its own files alone, has no network, and is limited',
  restricted: 'restricted: code sees no network; other files are refused rather than absent',
  external: 'external: only limits hold; something around the server confines code',
  none: 'none: steps with code fail and say what to do',
};

function Server() {
  const ready = useReady();
  const health = useQuery({ queryKey: ['health'], queryFn: () => body(client.GET('/api/health')) });
  const sandbox = ready.data?.sandbox;
  return (
    <Part id="server" title="Server">
      {(ready.error ?? health.error) && <ErrorBlock title="The server does not take work now" problem={ready.error ?? health.error} />}
      <Line label="Version">
        <span className="fact">{health.data?.version ?? ''}</span>
      </Line>
      <Line label="Takes work">{ready.data ? 'yes' : ready.error ? 'no' : ''}</Line>
      <Line label="Sandbox">{sandbox ? (SANDBOX[sandbox] ?? sandbox) : ready.data ? 'being tried' : ''}</Line>
      <Line label="Check the home">
        <Command text="holdpoint doctor" />
      </Line>
      <Line label="API">
        <a href="/api/docs" className="underline underline-offset-2">
          What the server answers
        </a>
      </Line>
    </Part>
  );
}
