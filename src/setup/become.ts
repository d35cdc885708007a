/** Replaces this process by another program (exec). Process number, input and output stay the same. */
export function become(file: string, ...words: readonly string[]): never {
  if (process.execve === undefined) throw new Error('Hearth runs on Linux and macOS.')
  return process.execve(file, [file, ...words])
}
