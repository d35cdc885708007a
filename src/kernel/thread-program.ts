/**
 * Where a thread finds its program, named by its place below src. The executable holds those that src/setup/build.ts names, by
 * that place; a checkout has them as files.
 */
export const threadProgram = (place: string): string =>
  import.meta.url.includes('$bunfs') ? `./${place}` : new URL(`../${place}`, import.meta.url).href
