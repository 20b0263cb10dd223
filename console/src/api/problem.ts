/** What a request can come back with instead of an answer. */

export interface FieldFault {
  pointer: string;
  message: string;
}

/** One type for all refusals and failures: a stable code, what failed, and what to do. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly hint: string,
    readonly errors: FieldFault[] = [],
    /** Members that one code has of its own. */
    readonly more: Record<string, unknown> = {},
  ) {
    super(detail);
    this.name = 'Problem';
  }

  /** Whether asking again may help. */
  get passing(): boolean {
    return this.status === 0 || this.status === 429 || this.status === 503;
  }

  static unreachable(): Problem {
    return new Problem(0, 'unreachable', 'The server does not answer.', 'Is `holdpoint serve` still running?');
  }

  static from(status: number, body: unknown): Problem {
    const document = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
    const text = (name: string, otherwise: string) => {
      const value = document[name];
      return typeof value === 'string' ? value : otherwise;
    };
    const errors = Array.isArray(document.errors) ? (document.errors as FieldFault[]) : [];
    const detail = text('detail', `The server answered ${status}.`);
    return new Problem(status, text('code', `http_${status}`), detail, text('hint', 'Try again.'), errors, document);
  }

  static of(error: unknown): Problem {
    if (error instanceof Problem) return error;
    const detail = error instanceof Error ? error.message : String(error);
    return new Problem(0, 'console_error', detail, 'Load the page again.');
  }
}
