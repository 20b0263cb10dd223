/** The one way to the server: typed by the API's description, with a key on every change, and one kind of problem. */
import createClient, { type Middleware } from 'openapi-fetch';
import { Problem } from './problem';
import type { paths } from './schema';

/** The same key and the same request are carried out once, however often they are sent. */
const withKey: Middleware = {
  onRequest({ request }) {
    if (request.method === 'POST' && !request.headers.has('Idempotency-Key')) {
      request.headers.set('Idempotency-Key', crypto.randomUUID());
    }
    return request;
  },
};

let whenSignedOut = () => {};

/** Called when an answer says that nobody is signed in. */
export function onSignedOut(listener: () => void): void {
  whenSignedOut = listener;
}

/** Says that nobody is signed in any more. */
export const signedOut = () => whenSignedOut();

export const client = createClient<paths>({ baseUrl: '', credentials: 'same-origin' });
client.use(withKey);

interface Answered<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** The body of an answer, or a {@link Problem}. */
export async function body<Data>(answer: Promise<Answered<Data>>): Promise<Data> {
  let answered: Answered<Data>;
  try {
    answered = await answer;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw Problem.unreachable();
  }
  const { data, error, response } = answered;
  if (response.ok) return data as Data;
  if (response.status === 401) whenSignedOut();
  throw Problem.from(response.status, error);
}

/** A file's text, for artifacts. */
export async function text(path: string, signal?: AbortSignal): Promise<string> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: 'same-origin', signal });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw Problem.unreachable();
  }
  if (response.ok) return response.text();
  throw Problem.from(response.status, await response.json().catch(() => null));
}
