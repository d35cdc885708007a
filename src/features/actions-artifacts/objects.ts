import { randomUUID } from 'node:crypto'
import type { Context } from '../../context.ts'

/** Folder of the object store that artifacts and their blocks lie in, and nothing else. */
export const FOLDER = 'artifacts'

export function newKey(): string {
  const uuid = randomUUID()
  return `${FOLDER}/${uuid.slice(0, 2)}/${uuid}`
}

/** Ends what takes longer than a push may: what is older and has no row belongs to nobody. */
export const uploadSignal = ({ config }: Context, request: Request): AbortSignal =>
  AbortSignal.any([request.signal, AbortSignal.timeout(config.gitTimeoutSeconds * 1000)])
