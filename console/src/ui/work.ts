/** Loads the font of the work when work is shown. */
import { useEffect } from 'react';
import { loaded } from '@/api/loaded';

export function useWorkFont(wanted = true): void {
  useEffect(() => {
    if (wanted) void loaded(() => import('./serif'))();
  }, [wanted]);
}
