/**
 * The programs of threads, by their places below src. `setup/compile.ts` names them to the compiler, so the executable holds
 * each under its place; a checkout has them as files.
 */
export const THREAD_PROGRAMS = [
  'actions/workflows/workflow-worker.ts',
  'auth/hash-worker.ts',
  'render/markdown-worker.ts',
  'render/markup-worker.ts',
  'signatures/openpgp-worker.ts',
] as const

export type ThreadProgram = (typeof THREAD_PROGRAMS)[number]

/** What `new Worker` takes to start a program. */
export const locateProgram = (program: ThreadProgram): string =>
  import.meta.url.includes('$bunfs') ? `./${program}` : new URL(`../${program}`, import.meta.url).href
