/** What the screen is: a phone, a desk. */
import { useSyncExternalStore } from 'react';

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const media = matchMedia(query);
      media.addEventListener('change', changed);
      return () => media.removeEventListener('change', changed);
    },
    () => matchMedia(query).matches,
  );
}

export const usePhone = () => useMedia('(width < 640px)');
/** Below this the right pane becomes a tab. */
export const useNarrow = () => useMedia('(width < 900px)');
/** Where two panes of work have no room beside each other. */
export const useOnePane = () => useMedia('(width < 1180px)');
