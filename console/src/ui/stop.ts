/** The undo of a start: the work is stopped, and what came of it is said. */
import { useCancel } from '@/api/hooks/executions';
import { toast, type Undo } from './toast';

export function useStop(): (execution: string, name: string) => Undo {
  const cancel = useCancel();
  return (execution, name) => () => cancel.mutateAsync(execution).then(() => toast(`Stopped ${name}, the run is paused`));
}
