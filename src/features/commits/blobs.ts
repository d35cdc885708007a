import type { RepositoryAccess } from '../../access/repository-access.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../kernel/errors.ts'

export interface FoundBlob {
  sha: string
  size: number
  /** null when the blob is larger. */
  base64(maxBytes: number): Promise<string | null>
}

/** @throws Refusal 400 for what is no blob */
export async function getBlob({ git }: Context, { repository }: RepositoryAccess, name: string): Promise<FoundBlob> {
  const found = await git.find(repository.id, name)
  if (found?.type !== 'blob') throw badRequest(`sha not found [${name}]`)
  const { sha, size } = found
  const base64 = async (maxBytes: number) =>
    size > maxBytes ? null : readBase64((await git.readBlob(repository.id, sha, { maxBytes })).bytes)
  return { sha, size, base64 }
}

export const readBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
