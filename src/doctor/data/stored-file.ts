import { type DataCheck, settle } from './check.ts'

interface StoredFile {
  key: string
  size: number
  /** As people know it. */
  subject: string
  /** It may have been deleted since it was read. */
  isThere(): Promise<boolean>
}

/** Whether the bytes that a row names are in the object store, all of them. */
export async function checkStoredFile(check: DataCheck, { key, size, subject, isThere }: StoredFile): Promise<void> {
  const found = await check.context.objects.size(key)
  if (found === size || !(await isThere())) return
  await settle(check, {
    subject,
    detail: found === undefined ? 'its bytes are missing' : `it has ${found} bytes, not ${size}`,
    remedy: `put ${key} back from a backup of OBJECTS_DIR or the bucket, or delete the file`,
  })
}
