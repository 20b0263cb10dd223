/** Tokens: make one, see which are good, withdraw one. A secret is shown once, in the answer that makes it. */
import { type FormEvent, useMemo, useState } from 'react';
import { usePipelines } from '@/api/hooks/pipelines';
import { useMe } from '@/api/hooks/session';
import { useIssueToken, useRevokeToken, useTokens } from '@/api/hooks/tokens';
import { Problem } from '@/api/problem';
import type { Token } from '@/api/types';
import { hasRole } from '@/model/rights';
import { isOver, LASTS, ROLES, scope, seconds, tokenCommand } from '@/model/tokens';
import { Avatar } from '@/ui/Avatar';
import { Tag } from '@/ui/Badge';
import { Button } from '@/ui/Button';
import { Copy, CopyAs } from '@/ui/CopyAs';
import { Field, Input, Select, Switch } from '@/ui/fields';
import { useOffline } from '@/ui/HintBar';
import { Confirm } from '@/ui/overlays';
import { ErrorBlock, Loading } from '@/ui/states';
import { toast } from '@/ui/toast';
import { Time, useNow } from '@/ui/values';
import { Command, Part } from './parts';

export function Tokens() {
  const { data: me } = useMe();
  const admin = hasRole(me, 'admin');
  return (
    <Part id="tokens" title="People and tokens" about="Who comes in has a token; its name is the person’s or the program’s, and stands beside everything that is done with it.">
      {admin ? (
        <Managed />
      ) : (
        <p>
          Making and withdrawing tokens needs admin; your role is {me?.role}. An admin can also do it on the machine: <Command text="holdpoint token create NAME --role approver" />
        </p>
      )}
    </Part>
  );
}

function Managed() {
  const tokens = useTokens();
  const pipelines = usePipelines().data?.pages.flatMap((page) => page.items);
  const names = useMemo(() => new Map(pipelines?.map((one) => [one.pipeline_id, one.pipeline_name])), [pipelines]);
  const [made, setMade] = useState<Token>();
  const [going, setGoing] = useState<Token>();
  const revoke = useRevokeToken();
  const { data: me } = useMe();
  return (
    <>
      {made ? <Made token={made} onDone={() => setMade(undefined)} /> : <Make names={names} onMade={setMade} />}
      {tokens.error && <ErrorBlock title="The tokens could not be read" problem={tokens.error} />}
      {tokens.isPending && <Loading label="Tokens" rows={2} />}
      {tokens.data && (
        <ul aria-label="Tokens" className="border-t border-line">
          {tokens.data.items.map((token) => (
            <Item key={token.token_id} token={token} names={names} onRevoke={() => setGoing(token)} />
          ))}
        </ul>
      )}
      <Confirm
        open={going !== undefined}
        onClose={() => {
          setGoing(undefined);
          revoke.reset();
        }}
        title={`Revoke the token of ${going?.name ?? ''}?`}
        verb={`Revoke ${going?.name ?? ''}`}
        danger
        busy={revoke.isPending}
        problem={revoke.error ? Problem.of(revoke.error) : undefined}
        onConfirm={() =>
          going &&
          revoke.mutate(going.token_id, {
            onSuccess: () => {
              setGoing(undefined);
              toast(`Revoked the token of ${going.name}`);
            },
          })
        }
      >
        Whoever holds it cannot come in any more, at once. This cannot be undone; a new token can be made. What was done with it stays recorded.
        {going?.name === me?.name && <b className="mt-2 block text-ink">It has your own name: if it is the one that you are signed in with, you are signed out.</b>}
      </Confirm>
    </>
  );
}

function Make({ names, onMade }: { names: ReadonlyMap<string, string>; onMade: (token: Token) => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState('approver');
  const [days, setDays] = useState('90');
  const [agent, setAgent] = useState(false);
  const [only, setOnly] = useState<string[]>([]);
  const issue = useIssueToken();
  const offline = useOffline();
  const body = { name: name.trim(), role, ...(agent && { agent }), ...(only.length > 0 && { pipelines: only }), ...(seconds(days) !== undefined && { lasts_seconds: seconds(days) }) };
  const faults = issue.error ? Problem.of(issue.error).errors : [];
  const fault = (field: string) => faults.find((one) => one.pointer === `/${field}`)?.message;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!offline && !issue.isPending) issue.mutate(body, { onSuccess: onMade });
  };
  return (
    <form onSubmit={submit} aria-label="Make a token" className="flex max-w-[640px] flex-col gap-3">
      <Field layout="beside" label="Whose" error={fault('name')} help="A person’s name, or what a program is for.">
        <Input value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" required maxLength={200} />
      </Field>
      <Field layout="beside" label="Role" error={fault('role')} help={`${role.charAt(0).toUpperCase()}${role.slice(1)} ${ROLES.find((one) => one.value === role)?.may ?? ''}.`}>
        <Select value={role} onChange={(event) => setRole(event.target.value)} options={ROLES.map(({ value }) => ({ value, label: value }))} />
      </Field>
      <Field layout="beside" label="For a program" help="A program never decides: it is at most an operator, and no approval of its counts.">
        <Switch
          checked={agent}
          onChange={(next) => {
            setAgent(next);
            if (next && (role === 'approver' || role === 'admin')) setRole('operator');
          }}
        />
      </Field>
      <Field layout="beside" label="Good for">
        <Select value={days} onChange={(event) => setDays(event.target.value)} options={LASTS} />
      </Field>
      {names.size > 0 && (
        <fieldset className="grid gap-x-4 tablet:grid-cols-[122px_1fr]">
          <legend className="float-left text-small text-ink-3">Pipelines</legend>
          <div className="flex flex-wrap gap-x-4">
            {[...names].map(([id, label]) => (
              <label key={id} className="flex min-h-7 items-center gap-2 max-tablet:min-h-11">
                <input type="checkbox" className="accent-ink" checked={only.includes(id)} onChange={(event) => setOnly(event.target.checked ? [...only, id] : only.filter((one) => one !== id))} />
                {label}
              </label>
            ))}
            <p className="w-full text-small text-ink-3">{only.length === 0 ? 'None is chosen, so it is good for all of them, also for those that come.' : 'Only for those that are chosen.'}</p>
          </div>
        </fieldset>
      )}
      {issue.error && faults.every((one) => !['/name', '/role'].includes(one.pointer)) && <ErrorBlock title="No token was made" problem={issue.error} />}
      <div className="flex items-center gap-2 tablet:pl-[138px]">
        <Button type="submit" kind="primary" busy={issue.isPending} off={offline ?? (name.trim() ? undefined : 'Say whose it is.')}>
          Make a token
        </Button>
        <CopyAs what={{ command: tokenCommand(name.trim(), role, days, agent, only), method: 'POST', path: '/api/tokens', body }} />
      </div>
    </form>
  );
}

function Made({ token, onDone }: { token: Token; onDone: () => void }) {
  return (
    <div role="status" aria-label="The new token" className="max-w-[640px] rounded-3 border border-line-2 bg-raised p-4">
      <p className="font-name">The token of {token.name}</p>
      {token.token ? (
        <>
          <p className="text-ink-2">Copy it now: it is shown this once and never again, and it is not kept here.</p>
          <div className="my-2 flex items-center gap-2 rounded-2 bg-sunken pl-2">
            <code className="fact min-w-0 flex-1 py-1 [overflow-wrap:anywhere]" data-secret>
              {token.token}
            </code>
            <Copy text={token.token} label="Copy the token">
              Copy
            </Copy>
          </div>
        </>
      ) : (
        <p className="text-ink-2">It was made by an earlier try of the same request, and its secret was in that answer alone. Revoke it and make another.</p>
      )}
      <Button size="small" onClick={onDone}>
        I have it
      </Button>
    </div>
  );
}

function Item({ token, names, onRevoke }: { token: Token; names: ReadonlyMap<string, string>; onRevoke: () => void }) {
  const now = useNow();
  const offline = useOffline();
  return (
    <li className="grid min-h-[46px] grid-cols-[20px_minmax(0,1fr)_auto] items-center gap-x-3 border-b border-line py-1.5">
      <Avatar name={token.name} kind={token.agent ? 'agent' : 'person'} />
      <span className="min-w-0">
        <span className="flex items-center gap-2">
          <span className="truncate font-name">{token.name}</span> <Tag>{token.role}</Tag>
        </span>
        <span className="block text-small text-ink-3">
          {token.agent && 'a program, '}
          {scope(token.pipelines, names)}, made <Time at={token.issued_at} as="moment" />,{' '}
          {token.expires_at ? (
            isOver(token, now) ? (
              <span className="text-fail">
                over since <Time at={token.expires_at} as="moment" />
              </span>
            ) : (
              <>
                good until <Time at={token.expires_at} as="moment" />
              </>
            )
          ) : (
            'does not end'
          )}
        </span>
      </span>
      <Button size="small" kind="danger" off={offline} offAt="hidden" label={`Revoke the token of ${token.name}`} onClick={onRevoke}>
        Revoke
      </Button>
    </li>
  );
}
