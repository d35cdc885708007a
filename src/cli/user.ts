import { and, asc, eq } from 'drizzle-orm'
import { type UserRow, users } from '../../db/schema/users.ts'
import { withContext } from '../assemble.ts'
import { loadProcessConfig } from '../config.ts'
import type { Context } from '../context.ts'
import { createToken } from '../features/access-tokens/service.ts'
import { createUser } from '../features/users/create.ts'
import { setPassword } from '../features/users/password.ts'
import { randomHex } from '../kernel/hashing.ts'
import { wireTime } from '../kernel/time.ts'
import { type Command, type CommandInput, UsageError } from './arguments.ts'

const passwordOption = {
  'password-stdin': { description: 'Reads the password from standard input. Without it one is generated and printed.' },
}

const create: Command = {
  name: 'user create',
  summary: 'Creates an account.',
  operands: ['NAME'],
  options: {
    email: { value: 'ADDRESS', description: 'E-mail address; required.' },
    admin: { description: 'Makes the account a site administrator.' },
    'must-change-password': { description: 'The first sign-in has to change the password.' },
    ...passwordOption,
  },
  run: (input) =>
    withContext(loadProcessConfig(), async (context) => {
      const [name = ''] = input.operands
      const email = input.text('email')
      if (email === undefined) throw new UsageError('--email ADDRESS is required')
      const { password, shown } = await readPassword(input)
      const mustChangePassword = input.has('must-change-password')
      await createUser(context, { name, email, password, isAdmin: input.has('admin'), mustChangePassword })
      return say(`Created ${name}.${shown}`)
    }),
}

const list: Command = {
  name: 'user list',
  summary: 'Lists the accounts of people: number, name, e-mail address, rights, creation.',
  run: () =>
    withContext(loadProcessConfig(), async ({ db }) => {
      const rows = await db.select().from(users).where(eq(users.kind, 'user')).orderBy(asc(users.id))
      return say(rows.map(describe).join('\n'))
    }),
}

const setPasswordCommand: Command = {
  name: 'user set-password',
  summary: 'Gives an account another password.',
  operands: ['NAME'],
  options: passwordOption,
  run: (input) =>
    withContext(loadProcessConfig(), async (context) => {
      const user = await getPerson(context, input.operands[0] ?? '')
      const { password, shown } = await readPassword(input)
      await setPassword(context, { user, by: 'command line' }, password)
      return say(`The password of ${user.name} is changed.${shown}`)
    }),
}

const generateToken: Command = {
  name: 'user generate-token',
  summary: 'Creates an access token for an account and prints it, once.',
  operands: ['NAME'],
  options: {
    name: { value: 'TEXT', description: 'Name of the token; "command-line" without it.' },
    scopes: { value: 'LIST', description: 'Scopes separated by commas, such as write:repository; "all" without it.' },
  },
  run: (input) =>
    withContext(loadProcessConfig(), async (context) => {
      const owner = await getPerson(context, input.operands[0] ?? '')
      const scopes = (input.text('scopes') ?? 'all').split(',').map((scope) => scope.trim())
      const { secret } = await createToken(context, owner, { name: input.text('name') ?? 'command-line', scopes })
      return say(secret)
    }),
}

export const userCommands: readonly Command[] = [create, list, setPasswordCommand, generateToken]

async function getPerson({ db }: Context, name: string): Promise<UserRow> {
  const [row] = await db
    .select()
    .from(users)
    .where(and(eq(users.kind, 'user'), eq(users.lowerName, name.toLowerCase())))
  if (row === undefined) throw new UsageError(`there is no account "${name}"; "user list" shows them`)
  return row
}

/** Not an option with a value: everybody on the machine could read it from the list of processes. */
async function readPassword(input: CommandInput): Promise<{ password: string; shown: string }> {
  if (input.has('password-stdin')) return { password: (await Bun.stdin.text()).replace(/\r?\n$/, ''), shown: '' }
  const password = randomHex(12)
  return { password, shown: ` Password (shown only now): ${password}` }
}

function describe({ id, name, email, isAdmin, isActive, prohibitLogin, createdAt }: UserRow): string {
  const rights = [isAdmin && 'administrator', !isActive && 'inactive', prohibitLogin && 'login forbidden']
  return [id, name, email, rights.filter((word) => word !== false).join(', '), wireTime(createdAt)].join('\t')
}

function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}
