/** @param execPath the program that runs; @param source where this file is: inside of a compiled program, or in a clone */
export function nameOf(execPath: string, source: string): string {
  const isCompiled = source.startsWith('/$bunfs/')
  // `bun run start` keeps the compiled program there (src/setup/compiled-program.ts).
  return isCompiled && !execPath.includes('/node_modules/.hearth/') ? 'hearth' : 'bun run start'
}

/** How people call this program, for hints that can be pasted: in a clone there is no `hearth`. */
export const programName = nameOf(process.execPath, import.meta.path)
