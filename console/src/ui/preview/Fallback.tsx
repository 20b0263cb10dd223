/** What cannot be drawn, however it fails, is shown as it is written: a preview never takes the screen with it. */
import { Component, type ReactNode } from 'react';

interface Props {
  children: ReactNode;
  otherwise: (reason: string) => ReactNode;
}

export class Fallback extends Component<Props, { reason?: string }> {
  override state: { reason?: string } = {};

  static getDerivedStateFromError(error: unknown): { reason: string } {
    return { reason: error instanceof Error ? error.message : String(error) };
  }

  override render(): ReactNode {
    return this.state.reason === undefined ? this.props.children : this.props.otherwise(this.state.reason);
  }
}
