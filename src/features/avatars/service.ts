import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { type AvatarRow, avatars } from '../../../db/schema/avatars.ts'
import { repositories } from '../../../db/schema/repositories.ts'
import { type UserRow, users } from '../../../db/schema/users.ts'
import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import type { CronTask } from '../../jobs/cron-tasks.ts'
import { badRequest, invalid, tooLarge } from '../../kernel/errors.ts'
import { sha256Hex } from '../../kernel/hashing.ts'
import { editUser } from '../users/edit.ts'
import { checkImage, MAX_AVATAR_BYTES } from './image.ts'

/**
 * Reads an uploaded picture: base64, with or without the head of a data URL.
 * @throws Refusal 400 when it is not base64, 413 when it is too large, 422 when it is no PNG, JPEG, GIF or WebP
 */
export function readAvatar(text: string): Omit<AvatarRow, 'createdAt'> {
  const encoded = text.replace(/^data:image\/[a-z+.-]+;base64,/, '').replace(/\s+/g, '')
  if (encoded.length > (MAX_AVATAR_BYTES * 4) / 3 + 4) throw tooLarge(`a picture may have ${MAX_AVATAR_BYTES} bytes`)
  if (encoded === '' || encoded.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded))
    throw badRequest('the picture is not base64')
  const content = new Uint8Array(Buffer.from(encoded, 'base64'))
  if (content.byteLength > MAX_AVATAR_BYTES) throw tooLarge(`a picture may have ${MAX_AVATAR_BYTES} bytes`)
  const image = checkImage(content)
  if (!image) throw invalid('is no PNG, JPEG, GIF or WebP of at most 4096 by 4096 pixels', 'image')
  return { hash: sha256Hex(content), mediaType: image.mediaType, content }
}

/** Keeps a picture; the row that shows it carries its hash. Of the same picture there is one copy. */
export async function storeAvatar(tx: Db, avatar: Omit<AvatarRow, 'createdAt'>): Promise<void> {
  await tx
    .insert(avatars)
    .values(avatar)
    .onConflictDoUpdate({ target: avatars.hash, set: { createdAt: sql`now()` } })
}

/** For a person or an organization. @throws Refusal as `readAvatar` */
export async function setAccountAvatar(
  { db }: Context,
  { account, by }: { account: UserRow; by: Actor },
  text: string,
): Promise<void> {
  const avatar = readAvatar(text)
  await db.transaction(async (tx) => {
    await storeAvatar(tx, avatar)
    await editUser(tx, account, { avatar: avatar.hash }, by)
  })
}

/** Back to the picture that is drawn from the name. */
export async function clearAccountAvatar(
  { db }: Context,
  { account, by }: { account: UserRow; by: Actor },
): Promise<void> {
  await db.transaction((tx) => editUser(tx, account, { avatar: '' }, by))
}

export async function findAvatar(db: Db, hash: string): Promise<AvatarRow | undefined> {
  const [row] = await db.select().from(avatars).where(eq(avatars.hash, hash))
  return row
}

/** A picture that nobody shows goes a day after it was uploaded: time enough for the transaction that will show it. */
export const avatarTasks: readonly CronTask[] = [
  {
    name: 'delete_unused_avatars',
    schedule: '@midnight',
    description: 'Delete uploaded pictures that no user, organization or repository shows',
    async run({ db, log }) {
      const gone = await db
        .delete(avatars)
        .where(
          sql`${avatars.createdAt} < now() - interval '1 day'
            and not exists (select 1 from ${users} where ${users.avatar} = ${avatars.hash})
            and not exists (select 1 from ${repositories} where ${repositories.avatar} = ${avatars.hash})`,
        )
        .returning({ hash: avatars.hash })
      log.info({ avatars: gone.length }, 'unused avatars deleted')
    },
  },
]
