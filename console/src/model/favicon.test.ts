import { expect, it } from 'vitest';
import { favicon, tabTitle } from './favicon';

it('tells by the tab whether something waits', () => {
  expect([tabTitle('Inbox', 6), tabTitle('Events', 0)]).toEqual(['(6) Inbox · Holdpoint', 'Events · Holdpoint']);
  expect(decodeURIComponent(favicon(true, false))).toContain('#f8b527');
  expect(decodeURIComponent(favicon(false, true))).not.toContain('#f8b527');
});
