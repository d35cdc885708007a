import { type AuthSourceRow, type SourceRegistration, sourceRegistrations } from '../../db/schema/auth-sources.ts'
import { withContext } from '../assemble.ts'
import { loadProcessConfig } from '../config.ts'
import type { Context } from '../context.ts'
import { callbackUrl } from '../features/auth-sources/flow.ts'
import { type GroupTeam, listGroupTeams } from '../features/auth-sources/groups.ts'
import { addSource, deleteSource, editSource, type SourceOption } from '../features/auth-sources/sources.ts'
import { findSource, listSources } from '../features/auth-sources/store.ts'
import { messageOf } from '../kernel/thrown.ts'
import { type Command, type CommandInput, type CommandOption, UsageError } from './arguments.ts'
import { askSecret } from './ask-secret.ts'

const settings: Readonly<Record<string, CommandOption>> = {
  issuer: { value: 'URL', description: 'Address of the provider, as it calls itself.' },
  'client-id': { value: 'ID', description: 'Who this service is there.' },
  'secret-file': { value: 'FILE', description: 'File with the client secret.' },
  'secret-stdin': { description: 'Reads the client secret from standard input; at a terminal it asks for it.' },
  label: { value: 'TEXT', description: 'What people see; the name without it.' },
  scopes: { value: 'LIST', description: 'Separated by commas; "openid,profile,email" without it.' },
  active: { value: 'yes|no', description: 'Whether people can sign in by it.' },
  registration: {
    value: 'WORD',
    description: 'Who may get an account: "site" as ALLOW_REGISTRATION says, "automatic", "ask", or "closed".',
  },
  'required-claim-name': { value: 'CLAIM', description: 'Only people with this claim come in; "" for all.' },
  'required-claim-value': { value: 'TEXT', description: 'What that claim must be, or hold; "" for anything.' },
  'group-claim-name': { value: 'CLAIM', description: 'The claim that names the groups of a person; "" for none.' },
  'group-team-map': { value: 'JSON', description: 'Teams of each group: {"GROUP":{"ORGANIZATION":["TEAM"]}}.' },
  'group-team-map-removal': {
    value: 'yes|no',
    description: 'Whether people leave these teams when they are in none of their groups.',
  },
  unchecked: { description: 'Does not ask the provider first whether it is one.' },
}

const HELP = `The secret is never an option: everybody on the machine could read it. It is stored encrypted.
A provider in a local network has to be named in AUTH_SOURCE_ALLOWED_HOSTS. A running server takes every change at once.`

const add: Command = {
  name: 'auth-source add',
  summary: 'Lets people sign in by another provider (OpenID Connect).',
  details: `NAME becomes part of the address that the provider sends people back to, which the command prints, and stays as it is.
Without a secret this service is a public client. ${HELP}`,
  operands: ['NAME'],
  options: settings,
  run: (input) =>
    withContext(loadProcessConfig(), async (context) => {
      const [name = ''] = input.operands
      const { issuer, clientId, ...option } = await readOption(input)
      if (issuer === undefined || clientId === undefined)
        throw new UsageError('--issuer URL and --client-id ID are required')
      const { label = name, scopes = ['openid', 'profile', 'email'] } = option
      const source = await addSource(context, { ...option, name, issuer, clientId, label, scopes }, 'command line')
      return say(`Added ${source.name}. Register this redirect URI with it: ${callbackUrl(context, source)}`)
    }),
}

const list: Command = {
  name: 'auth-source list',
  summary: 'Lists the providers that people can sign in by.',
  details: `Number, name, label, issuer, client id, state, registration, number of accounts that are of it; below each what else is set.`,
  run: () =>
    withContext(loadProcessConfig(), async ({ db }) => {
      const [rows, mapped] = await Promise.all([listSources(db), listGroupTeams(db)])
      const teamsOf = Map.groupBy(mapped, ({ sourceId }) => sourceId)
      for (const { source, accounts } of rows) say(describe(source, accounts, teamsOf.get(source.id) ?? []))
      return 0
    }),
}

const edit: Command = {
  name: 'auth-source edit',
  summary: 'Changes such a provider. What is not given stays.',
  details: HELP,
  operands: ['NAME'],
  options: {
    ...settings,
    'same-people': {
      description: 'Another --issuer is the same provider at another address, with the same subject for everybody.',
    },
  },
  run: (input) =>
    withContext(loadProcessConfig(), async (context) => {
      const source = await getSource(context, input)
      const option = { ...(await readOption(input)), hasSamePeople: input.has('same-people') }
      await editSource(context, { source, option }, 'command line')
      return say(`Changed ${source.name}.`)
    }),
}

const remove: Command = {
  name: 'auth-source delete',
  summary: 'Deletes such a provider. Nobody is connected with it any more.',
  details: `It is refused while accounts are of it. Sessions that were begun by it go on until they end; "auth-source edit --active no" keeps
everything and lets nobody in.`,
  operands: ['NAME'],
  options: {
    'release-accounts': {
      description: 'Its accounts become accounts of this site, whose owners choose a password by "forgotten password".',
    },
  },
  run: (input) =>
    withContext(loadProcessConfig(), async (context) => {
      const source = await getSource(context, input)
      const isReleasing = input.has('release-accounts')
      const released = await deleteSource(context, { source, isReleasing }, 'command line')
      return say(`Deleted ${source.name}.${isReleasing ? ` Accounts that are of this site now: ${released}` : ''}`)
    }),
}

export const authSourceCommands: readonly Command[] = [add, list, edit, remove]

async function getSource({ db }: Context, { operands: [name = ''] }: CommandInput): Promise<AuthSourceRow> {
  const source = await findSource(db, name)
  if (!source) throw new UsageError(`there is no source "${name}"; "auth-source list" shows them`)
  return source
}

async function readOption(input: CommandInput): Promise<SourceOption> {
  const orNull = (name: string) => (input.text(name) === '' ? null : input.text(name))
  const map = input.text('group-team-map')
  return {
    issuer: input.text('issuer'),
    clientId: input.text('client-id'),
    label: input.text('label'),
    scopes: input
      .text('scopes')
      ?.split(/[\s,]+/)
      .filter((word) => word !== ''),
    isActive: readChoice(input, 'active'),
    registration: readRegistration(input.text('registration')),
    requiredClaim: orNull('required-claim-name'),
    requiredValue: input.text('required-claim-name') === '' ? null : orNull('required-claim-value'),
    groupClaim: orNull('group-claim-name'),
    removesFromTeams: readChoice(input, 'group-team-map-removal'),
    groupTeams: map === undefined ? undefined : readGroupTeams(map),
    secret: await readSecret(input),
    isTried: !input.has('unchecked'),
  }
}

function readChoice(input: CommandInput, name: string): boolean | undefined {
  const word = input.text(name)
  if (word === undefined || word === 'yes' || word === 'no') return word === undefined ? undefined : word === 'yes'
  throw new UsageError(`--${name} is yes or no, not "${word}"`)
}

function readRegistration(word: string | undefined): SourceRegistration | undefined {
  const known = sourceRegistrations.find((registration) => registration === word)
  if (word !== undefined && known === undefined)
    throw new UsageError(`--registration is one of ${sourceRegistrations.join(', ')}, not "${word}"`)
  return known
}

async function readSecret(input: CommandInput): Promise<string | undefined> {
  const file = input.text('secret-file')
  if (file === undefined && !input.has('secret-stdin')) return undefined
  if (file === undefined && process.stdin.isTTY) return requireSecret(await askSecret('Client secret: '))
  const text = await (file === undefined ? Bun.stdin : Bun.file(file)).text().catch((error: unknown) => {
    throw new UsageError(`the secret cannot be read: ${messageOf(error)}`)
  })
  return requireSecret(text)
}

function requireSecret(text: string): string {
  const secret = text.trim()
  if (secret === '') throw new UsageError('the secret is empty')
  return secret
}

/** In the form that the Gitea command line takes. */
function readGroupTeams(text: string): GroupTeam[] {
  const wrong = () => new UsageError('--group-team-map is JSON such as {"GROUP":{"ORGANIZATION":["TEAM"]}}')
  const entriesOf = (value: unknown): [string, unknown][] => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong()
    return Object.entries(value)
  }
  return entriesOf(parse(text)).flatMap(([group, organizations]) =>
    entriesOf(organizations).flatMap(([organization, teams]) => {
      if (!Array.isArray(teams) || group === '' || group.length > 255) throw wrong()
      return teams.map((team: unknown) => {
        if (typeof team !== 'string') throw wrong()
        return { group, organization, team }
      })
    }),
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Refused next, with what it should have been.
    return undefined
  }
}

function describe(source: AuthSourceRow, accounts: number, groupTeams: readonly GroupTeam[]): string {
  const { id, name, label, issuer, clientId, isActive, registration } = source
  const line = [id, name, label, issuer, clientId, isActive ? 'active' : 'inactive', registration, accounts].join('\t')
  const { requiredClaim, requiredValue, groupClaim, removesFromTeams, scopes, clientSecret } = source
  const teams = groupTeams.map(({ group, organization, team }) => `${group} is in ${organization}/${team}`)
  const more = [
    `scopes ${scopes.join(',')}`,
    clientSecret === null ? 'no secret' : 'with a secret',
    requiredClaim !== null && `requires ${requiredClaim}${requiredValue === null ? '' : `=${requiredValue}`}`,
    groupClaim !== null && `groups by ${groupClaim}${removesFromTeams ? ', and out of teams' : ''}`,
    ...teams,
  ]
  return [line, ...more.filter((text) => text !== false).map((text) => `\t${text}`)].join('\n')
}

function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}
