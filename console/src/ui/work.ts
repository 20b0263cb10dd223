/** Loads the font of the work when work is shown. */
import { useEffect } from 'react';

export function useWorkFont(wanted = true): void {
  useEffect(() => {
    if (wanted) void import('./serif');
  }, [wanted]);
}
