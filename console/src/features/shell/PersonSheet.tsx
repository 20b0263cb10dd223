/** Who is signed in, the theme, and signing out. */
import { useMe, useSignOut } from '@/api/hooks/session';
import { Avatar } from '@/ui/Avatar';
import { Button } from '@/ui/Button';
import { Sheet } from '@/ui/overlays';
import { SegmentedControl } from '@/ui/Tabs';
import { setTheme, type Theme, useTheme } from '@/ui/theme';

export function PersonSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { data: me } = useMe();
  const signOut = useSignOut();
  const theme = useTheme();
  if (!me) return null;
  return (
    <Sheet open={open} onClose={onClose} title="You">
      <div className="flex flex-col gap-5">
        <div className="flex items-center gap-3">
          <Avatar name={me.name} kind={me.kind} size={34} />
          <div>
            <p className="font-name">{me.name}</p>
            <p className="text-small text-ink-3">
              {me.role}
              {me.pipelines.length > 0 && `, ${me.pipelines.length} pipelines`}
            </p>
          </div>
        </div>
        <div>
          <p className="label mb-1">Theme</p>
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
        </div>
        <Button icon="out" busy={signOut.isPending} onClick={() => signOut.mutate()} className="self-start">
          Sign out
        </Button>
      </div>
    </Sheet>
  );
}
