/** Reads the text of a stream of server-sent events, piece by piece. */

export interface Sent {
  type: string;
  id: string | undefined;
  data: string;
}

/** Gives every whole event of what has come; what is not whole yet waits for the next piece. */
export class Parser {
  #rest = '';

  push(piece: string): Sent[] {
    this.#rest += piece;
    const events: Sent[] = [];
    for (;;) {
      const end = /\r?\n\r?\n/.exec(this.#rest);
      if (!end) return events;
      const event = read(this.#rest.slice(0, end.index));
      this.#rest = this.#rest.slice(end.index + end[0].length);
      if (event) events.push(event);
    }
  }
}

function read(block: string): Sent | undefined {
  let type = 'message';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === 'event' && value !== undefined) type = value;
    else if (name === 'id') id = value;
    else if (name === 'data' && value !== undefined) data.push(value);
  }
  return data.length > 0 ? { type, id, data: data.join('\n') } : undefined;
}
