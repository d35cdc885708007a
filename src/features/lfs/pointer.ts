/** What a pointer of large file storage stands for. */
export interface LargeFile {
  oid: string
  size: number
}

/** A longer file is no pointer (git-lfs, docs/spec.md). */
export const MAX_POINTER_BYTES = 1024

const POINTER =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:[^\n]*\n)*?oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n/

/** Undefined for anything that is not a pointer. */
export function readPointer(content: Uint8Array): LargeFile | undefined {
  if (content.length >= MAX_POINTER_BYTES) return undefined
  const [, oid, size] = POINTER.exec(Buffer.from(content).toString('latin1')) ?? []
  return oid === undefined ? undefined : { oid, size: Number(size) }
}
