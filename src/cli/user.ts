import { asc, eq } from 'drizzle-orm'
import { users } from '../../db/schema/users.ts'
import { withContext } from '../assemble.ts'
import { loadProcessConfig } from '../config.ts'
import { wireTime } from '../kernel/time.ts'
import type { Command } from './arguments.ts'

const list: Command = {
  name: 'user list',
  summary: 'Lists the accounts of people: number, name, e-mail address, rights, creation.',
  run: () =>
    withContext(loadProcessConfig(), async ({ db }) => {
      const rows = await db.select().from(users).where(eq(users.kind, 'user')).orderBy(asc(users.id))
      for (const { id, name, email, isAdmin, isActive, prohibitLogin, createdAt } of rows) {
        const rights = [isAdmin && 'administrator', !isActive && 'inactive', prohibitLogin && 'login forbidden']
        const words = rights.filter((word) => word !== false).join(', ')
        process.stdout.write([id, name, email, words, wireTime(createdAt)].join('\t').concat('\n'))
      }
      return 0
    }),
}

export const userCommands: readonly Command[] = [list]
