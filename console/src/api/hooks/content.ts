/** The bytes of an output, up to a limit: a preview never loads more than it can show. */
import { skipToken, useQuery } from '@tanstack/react-query';
import { body, client } from '../client';
import { keys } from '../keys';
import { Problem } from '../problem';
import { type ArtifactFilter, downloadPath } from './artifacts';

/** As much as a preview reads. */
export const PREVIEW_LIMIT = 1_000_000;

export interface Content {
  bytes: Uint8Array<ArrayBuffer>;
  /** Nothing, where the bytes are no text. */
  text: string | undefined;
  /** Whether this is all of it. */
  whole: boolean;
}

/** Bytes as text; nothing, where they are something else. A cut text may end inside a character. */
export function decode(bytes: Uint8Array, whole: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !whole });
  } catch {
    return undefined;
  }
}

async function read(id: string, limit: number, signal: AbortSignal): Promise<Content> {
  let response: Response;
  try {
    response = await fetch(downloadPath(id), { credentials: 'same-origin', signal });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw Problem.unreachable();
  }
  if (!response.ok) throw Problem.from(response.status, await response.json().catch(() => null));
  const bytes = new Uint8Array(limit);
  let length = 0;
  let whole = true;
  const reader = response.body?.getReader();
  for (let piece = await reader?.read(); reader && piece && !piece.done; piece = await reader.read()) {
    const room = limit - length;
    bytes.set(piece.value.subarray(0, room), length);
    length += Math.min(room, piece.value.length);
    if (piece.value.length > room) {
      whole = false;
      await reader.cancel();
      break;
    }
  }
  const kept = bytes.slice(0, length);
  return { bytes: kept, whole, text: decode(kept, whole) };
}

/** An output never changes under its id, so what was read stays. */
export const useContent = (id: string | undefined, limit = PREVIEW_LIMIT) =>
  useQuery({ queryKey: ['text', id, limit], queryFn: id ? ({ signal }) => read(id, limit, signal) : skipToken });

/** All outputs that a filter names, once it is known. */
export const useOutputs = (filter: ArtifactFilter | undefined) =>
  useQuery({
    queryKey: keys.artifacts({ ...filter, whole: true }),
    queryFn: filter ? ({ signal }) => body(client.GET('/api/artifacts/list', { params: { query: { ...filter, limit: 100 } }, signal })).then((page) => page.items) : skipToken,
  });
