/** Replaces this process by another program: one process, with the same number, input and output, and nothing in between. */
export function become(file: string, ...words: readonly string[]): never {
  if (process.execve === undefined) throw new Error('Hearth runs on Linux and macOS.')
  return process.execve(file, [file, ...words])
}
