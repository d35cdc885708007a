import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'

/** The message for somebody who may not write to the checkout, where packages and the compiled program are stored; undefined for all others. */
export function writeFault(root: string): string | undefined {
  const packages = join(root, 'node_modules')
  try {
    accessSync(existsSync(packages) ? packages : root, constants.W_OK)
    return undefined
  } catch {
    return `This user (number ${process.getuid?.()}) may not write to ${root}. To fix it: clone it as this user, or give it to them: chown -R ${process.getuid?.()} '${root}'`
  }
}
