/** What the checks said, in two columns. */
import type { Check } from '@/api/types';
import { StatusMark } from '@/ui/Icon';

export function Checks({ check }: { check: Check }) {
  const reasons = check.reasons.length > 0 ? check.reasons : [check.passed ? 'The check passed' : 'The check did not pass'];
  return (
    <ul aria-label="Checks" className="grid gap-x-7 wide:grid-cols-2">
      {reasons.map((reason) => (
        <li key={reason} className="flex min-h-[26px] items-center gap-2 border-b border-line py-1 text-small">
          <StatusMark icon={check.passed ? 'passed' : 'failed'} tone={check.passed ? 'done' : 'fail'} size={14} label={check.passed ? 'Passed' : 'Failed'} />
          <span className="min-w-0">{reason}</span>
        </li>
      ))}
    </ul>
  );
}
