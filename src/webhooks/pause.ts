import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Db } from '../../db/client.ts'
import { type HookRow, hooks } from '../../db/schema/hooks.ts'
import type { Context } from '../context.ts'
import { mailLetter } from '../mail/send.ts'
import { wakeHooks } from './deliveries.ts'

const PATIENCE_DAYS = 3
const DAY_MS = 86_400_000
/** Of an organization or a site with many. */
const MAX_MAILS = 20

/** A target that has answered nothing well for days is sent nothing more, and the owners of the hook get a mail. */
export async function pauseIfDead(context: Context, tx: Db, hook: HookRow): Promise<void> {
  const now = context.clock.now()
  if (hook.failingSince === null || now.getTime() - hook.failingSince.getTime() < PATIENCE_DAYS * DAY_MS) return
  const paused = await tx
    .update(hooks)
    .set({ pausedAt: now })
    .where(and(eq(hooks.id, hook.id), isNull(hooks.pausedAt)))
    .returning({ id: hooks.id })
  if (paused.length === 0) return
  context.log.warn({ hook: hook.id }, 'a hook is paused: its target has failed for days')
  for (const { name, email } of await listKeepers(tx, hook)) {
    await mailLetter(context, tx, {
      to: { address: email, name },
      subject: `A webhook is paused: ${new URL(hook.url).host}`,
      paragraphs: [
        `Since ${hook.failingSince.toISOString().slice(0, 10)} no delivery to this address has succeeded:`,
        { link: hook.url },
        'Nothing more is sent there. What happens meanwhile waits, and goes out once the hook is set to active again.',
      ],
    })
  }
}

/** Lets a paused hook try again at once, with all that waits for it. */
export async function resumeHook(tx: Db, hook: HookRow, now: Date): Promise<void> {
  await tx.update(hooks).set({ pausedAt: null, failingSince: null }).where(eq(hooks.id, hook.id))
  await tx.execute(sql`
    update hook_deliveries set next_attempt_at = ${now.toISOString()}::timestamptz
    where hook_id = ${hook.id} and state = 'waiting'`)
  await wakeHooks(tx, [hook.id])
}

/** Who may change the hook: the owner of the repository or the owners of its organization, for hooks of the site its administrators. */
async function listKeepers(db: Db, hook: HookRow): Promise<{ name: string; email: string }[]> {
  return db.execute<{ name: string; email: string }>(sql`
    with owner as (
      select coalesce(${hook.ownerId}::bigint, (select owner_id from repositories where id = ${hook.repositoryId}::bigint)) as id)
    select users.name, users.email from users, owner
    where users.kind = 'user' and not users.prohibit_login and users.is_active and (
      users.id = owner.id
      or exists (
        select from team_members join teams on teams.id = team_members.team_id
        where teams.organization_id = owner.id and teams.permission = 'owner' and team_members.user_id = users.id)
      or (owner.id is null and users.is_admin))
    order by users.id limit ${MAX_MAILS}`)
}
