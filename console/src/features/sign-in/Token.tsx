/** A token that is pasted, and what the server says to it. */
import { type FormEvent, useState } from 'react';
import { useSignIn } from '@/api/hooks/session';
import { Problem } from '@/api/problem';
import { Button } from '@/ui/Button';
import { Field, Input } from '@/ui/fields';
import { ErrorBlock } from '@/ui/states';

export function Token({ label, help, className }: { label: string; help: string; className?: string }) {
  const [token, setToken] = useState('');
  const signIn = useSignIn();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (token.trim()) signIn.mutate(token.trim());
  };
  return (
    <form onSubmit={submit} className={className}>
      <Field label={label} help={help}>
        <Input type="password" mono value={token} onChange={(event) => setToken(event.target.value)} placeholder="hp_…" autoComplete="current-password" />
      </Field>
      {signIn.error && <ErrorBlock title="You are not signed in" problem={plain(Problem.of(signIn.error))} />}
      <Button type="submit" kind="primary" size="decisive" busy={signIn.isPending} disabled={!token.trim()} className="self-start max-tablet:h-[46px]">
        Sign in
      </Button>
    </form>
  );
}

/** The API tells a program how to send a token; a person pastes it. */
const plain = (problem: Problem) => (problem.status === 401 ? new Problem(401, problem.code, 'This server does not know the token.', 'Paste all of a token of this server, or ask an admin for one.') : problem);
