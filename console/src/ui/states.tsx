/** What stands where nothing, an error or nothing yet is. */
import clsx from 'clsx';
import { type ReactNode, useEffect, useState } from 'react';
import { Problem } from '@/api/problem';
import { sentence } from '@/model/figures';
import { StatusMark } from './Icon';
import { Mark } from './Mark';

/** What would be here, how it gets here, one action. */
export function Empty({ title, children, action, className }: { title: string; children: ReactNode; action?: ReactNode; className?: string }) {
  return (
    <div className={clsx('m-5 flex max-w-[520px] items-start gap-3 rounded-3 border border-dashed border-line-2 px-[18px] py-4 max-tablet:m-4', className)}>
      <Mark size={22} className="flex-none" />
      <div className="min-w-0">
        <h2 className="text-body font-name max-tablet:text-phone">{title}</h2>
        <p className="text-small text-ink-2 max-tablet:text-[13px]">{children}</p>
        {action && <div className="mt-2 flex flex-wrap items-center gap-2">{action}</div>}
      </div>
    </div>
  );
}

/** What did not happen, why, what to do, and the stable code. */
export function ErrorBlock({ title, problem, action, className }: { title: string; problem: unknown; action?: ReactNode; className?: string }) {
  const { detail, hint, status, code, errors } = Problem.of(problem);
  return (
    <div role="alert" className={clsx('flex items-start gap-3 rounded-3 border border-line-2 bg-raised px-3 py-[10px]', className)}>
      <StatusMark icon="failed" tone="fail" className="mt-0.5" />
      <div className="min-w-0 flex-1">
        <p className="font-name">{title}</p>
        <p className="text-small text-ink-2">{sentence(detail)}</p>
        {errors.length > 0 && (
          <ul className="text-small text-ink-2">
            {errors.map((error) => (
              <li key={error.pointer + error.message}>
                <span className="fact">{error.pointer}</span> {sentence(error.message)}
              </li>
            ))}
          </ul>
        )}
        <p className="text-small text-ink-2">{sentence(hint)}</p>
        <div className="mt-[7px] flex flex-wrap items-center gap-2">
          {action}
          <span className="fact text-ink-3">
            {status > 0 && `${status} `}
            {code}
          </span>
        </div>
      </div>
    </div>
  );
}

/** Nothing for 300 ms, then labels in place with empty values; no shimmer. */
export function Loading({ label, rows = 6, className }: { label: string; rows?: number; className?: string }) {
  const shown = useAfter(300);
  return (
    <div role="status" aria-label={label} className={className}>
      {shown && (
        <>
          <p className="label px-5 py-2 max-tablet:px-4">{label}</p>
          <div aria-hidden="true">
            {Array.from({ length: rows }, (_, at) => (
              <div key={at} className="h-[61px] border-t border-line last:border-b" />
            ))}
          </div>
        </>
      )}
    </div>
  );
}

/** Whether some time has passed since the component came. */
export function useAfter(milliseconds: number): boolean {
  const [passed, setPassed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setPassed(true), milliseconds);
    return () => clearTimeout(timer);
  }, [milliseconds]);
  return passed;
}
