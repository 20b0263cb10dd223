/** Parts of the console that are loaded when they are needed. */

const PAUSE = 1000;

/** Whether the server answers at all. */
const answers = () =>
  fetch('/readyz').then(
    () => true,
    () => false,
  );

/** Loads a part. While the server is gone it waits and tries again: what was on the page stays, and goes on by itself. */
export function loaded<Part>(load: () => Promise<Part>): () => Promise<Part> {
  return async () => {
    for (;;) {
      try {
        return await load();
      } catch (error) {
        // With the server there, the part itself is wrong or of another version.
        if (await answers()) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
      }
    }
  };
}
