/** Why the last press did not decide, said quietly beside the buttons. */
export function Hint({ children }: { children: string | undefined }) {
  return (
    <p role="status" className={children ? 'mt-2 text-small text-ink-2' : 'sr-only'}>
      {children}
    </p>
  );
}
