/** A screen that fails takes nothing else with it. */
import { Component, type ReactNode } from 'react';
import { Button } from './Button';
import { ErrorBlock } from './states';

export class ErrorBoundary extends Component<{ children: ReactNode; of?: string }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return (
      <div className="max-w-[640px] p-5">
        <ErrorBlock
          title={`${this.props.of ?? 'This screen'} could not be drawn`}
          problem={this.state.error}
          action={
            <Button size="small" onClick={() => this.setState({ error: undefined })}>
              Draw it again
            </Button>
          }
        />
      </div>
    );
  }
}
