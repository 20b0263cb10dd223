/** What somebody sees who is not signed in: how to sign in, by the command or with a token. */
import { Copy } from '@/ui/CopyAs';
import { Logo } from '@/ui/Mark';
import { useTitle } from '@/ui/page';
import { Token } from './Token';

export default function SignIn() {
  useTitle('Sign in');
  return (
    <main className="scroll-pane h-dvh bg-surface">
      <div className="mx-auto flex max-w-[420px] flex-col gap-6 px-5 pt-[16vh] pb-10">
        <Logo />
        <div>
          <h1 className="mb-1 text-title">Sign in</h1>
          <p className="text-ink-2">On the machine that runs Holdpoint, this opens the console with you signed in:</p>
          <div className="mt-2 flex items-center justify-between rounded-2 bg-sunken py-1 pr-1 pl-3">
            <code className="font-mono text-[12px]">holdpoint open</code>
            <Copy text="holdpoint open" label="Copy the command" />
          </div>
        </div>
        <Token label="Or paste a token" help="An admin makes one with holdpoint token create. It stays in this browser for twelve hours." className="flex flex-col gap-3 border-t border-line pt-5" />
      </div>
    </main>
  );
}
