import { readdir, rm } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { emptyIfMissing } from '../../../kernel/missing.ts'
import { GitError } from '../../errors.ts'
import type { Call, ListedRemote, Remote } from '../../model.ts'
import { isObjectId, isValidBranchName, isValidTagName } from '../../names.ts'
import { type Command, frugalSettings, runGit } from '../process/process.ts'
import { requireFolder, type Store } from '../store.ts'
import { remoteFailure } from './remote-failure.ts'

const BRANCHES_AND_TAGS = ['refs/heads/*', 'refs/tags/*']

/** Where refs of the other server lie until they are judged. `transfer.hideRefs` keeps them from every client. */
const FETCHED = 'refs/hidden/remote/'

/** Of refs that nobody relies on: a hundred thousand of them would take minutes. */
const WITHOUT_FLUSHING = ['core.fsync', 'all,-reference'] as const

/** Asks the other server for its branches and tags, and for the branch that its HEAD names. */
export async function listRemote(store: Store, remote: Remote, call?: Call): Promise<ListedRemote> {
  const stdout = await talk(store, remote, {
    args: ['ls-remote', '--quiet', '--symref', '--end-of-options', addressOf(remote), 'HEAD', ...BRANCHES_AND_TAGS],
    call,
  })
  const lines = stdout.toString().split('\n')
  const head = lines.map((line) => /^ref: refs\/heads\/(.+)\tHEAD$/.exec(line)?.[1]).find((name) => name !== undefined)
  const refs = lines.flatMap((line) => {
    const [sha = '', name = ''] = line.split('\t')
    return isObjectId(sha) && name.startsWith('refs/') && !name.endsWith('^{}') ? [{ name, sha }] : []
  })
  return { head, refs }
}

/**
 * Fetches branches and tags with all that they reach. No ref that anybody sees moves: the caller judges what has come, and moves refs by
 * `updateRefs`. What a failure leaves half-written is removed.
 */
export async function fetchRemote(
  store: Store,
  id: number,
  { remote, maxBytes }: { remote: Remote; maxBytes: number },
  call?: Call,
): Promise<Map<string, string>> {
  const folder = await requireFolder(store.runner.root, id)
  const before = await listIncomplete(folder)
  const refspecs = BRANCHES_AND_TAGS.map((ref) => `+${ref}:${FETCHED}${ref.slice('refs/'.length)}`)
  const fetched = ['--quiet', '--prune', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules']
  try {
    await talk(store, remote, {
      args: ['fetch', ...fetched, '--end-of-options', addressOf(remote), ...refspecs],
      folder,
      call,
      takesIn: { maxFileBytes: maxBytes },
      settings: [
        // One pack, so that the limit on a file is one on all that comes.
        ['fetch.unpackLimit', '1'],
        ...frugalSettings(store.runner),
        WITHOUT_FLUSHING,
      ],
    })
  } catch (error) {
    const left = (await listIncomplete(folder)).filter((name) => !before.includes(name))
    await Promise.all(left.map((name) => rm(join(folder, 'objects/pack', name), { force: true })))
    throw error
  }
  return readFetched(store, folder, call)
}

/** Packs that a killed process leaves; `cleanStale` finds them later. */
const listIncomplete = async (folder: string): Promise<string[]> =>
  (await readdir(join(folder, 'objects/pack')).catch(emptyIfMissing)).filter((name) => name.startsWith('tmp_'))

/** By their names there. Names that Hearth gives to no ref are left out. */
async function readFetched(store: Store, folder: string, call: Call | undefined): Promise<Map<string, string>> {
  const fetched = await listFetched(store, folder, call)
  const named = fetched.map(([name, sha]): [string, string] => [`refs/${name.slice(FETCHED.length)}`, sha])
  return new Map(named.filter(([name]) => isValidName(name)))
}

function isValidName(ref: string): boolean {
  const [, kind, name = ''] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? []
  return kind === 'heads' ? isValidBranchName(name) : isValidTagName(name)
}

async function listFetched({ runner }: Store, folder: string, call: Call | undefined): Promise<[string, string][]> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', '--', FETCHED]
  const { stdout } = await runGit(runner, { args, folder, call })
  return stdout
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const at = line.indexOf(' ')
      return [line.slice(at + 1), line.slice(0, at)]
    })
}

/** Removes what `fetchRemote` has noted of the other server, where it will not be asked again. */
export async function forgetRemote(store: Store, id: number, call?: Call): Promise<void> {
  const folder = await requireFolder(store.runner.root, id)
  const fetched = await listFetched(store, folder, call)
  if (fetched.length === 0) return
  const stdin = fetched.map(([name]) => `delete ${name}\0\0`).join('')
  const settings = [WITHOUT_FLUSHING]
  await runGit(store.runner, { args: ['update-ref', '-z', '--stdin'], folder, stdin, settings, call, isTransfer: true })
}

/** Makes the branches and tags of the other server those of the repository: also where they go back, and where they go. */
export async function pushRemote(store: Store, id: number, remote: Remote, call?: Call): Promise<void> {
  const folder = await requireFolder(store.runner.root, id)
  await talk(store, remote, {
    args: [
      'push',
      '--quiet',
      '--prune',
      '--no-verify',
      '--end-of-options',
      addressOf(remote),
      ...BRANCHES_AND_TAGS.map((ref) => `+${ref}:${ref}`),
    ],
    folder,
    call,
    memory: 'any',
  })
}

/** No transfer is slower than 1,000 bytes a second for a minute. */
const LEAST_PACE: readonly (readonly [string, string])[] = [
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '60'],
]

/**
 * Git, with nothing to reach but the addresses that were judged: the name of the host leads there, redirects are errors, and so are
 * alternates that a server without Git names. The secret goes by the environment to the host that it is for.
 */
async function talk(
  store: Store,
  remote: Remote,
  command: Omit<Command, 'isTransfer' | 'environment'>,
): Promise<Buffer> {
  const { credentials } = remote
  const { settings, environment } = remote.url.startsWith('git:') ? overGit(remote) : overHttp(remote)
  try {
    const all = [...settings, ...(command.settings ?? [])]
    const { stdout } = await runGit(store.runner, { ...command, settings: all, environment, isTransfer: true })
    return stdout
  } catch (error) {
    throw error instanceof GitError ? remoteFailure(error, credentials) : error
  }
}

interface Way {
  settings: (readonly [string, string])[]
  environment: Record<string, string>
}

/** What Git is to connect to. It resolves names of `git://` by itself, so that it is given an address in place of the name. */
function addressOf({ url, addresses }: Remote): string {
  if (!url.startsWith('git:')) return url
  const { hostname, port, pathname } = new URL(url)
  const [address = hostname] = addresses
  return `git://${isIP(address) === 6 ? `[${address}]` : address}${port && `:${port}`}${pathname}`
}

/** The name goes to the server as before, which may hold repositories of several names. */
const overGit = ({ url }: Remote): Way => ({
  settings: [],
  environment: { GIT_ALLOW_PROTOCOL: 'git', GIT_OVERRIDE_VIRTUAL_HOST: new URL(url).host },
})

function overHttp({ url, addresses, credentials }: Remote): Way {
  const { protocol, origin, hostname, port } = new URL(url)
  const place = `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
  const settings: (readonly [string, string])[] = [
    ...LEAST_PACE,
    // An address in the URL is never looked up.
    ...(isAddress(hostname) ? [] : [['http.curloptResolve', `${place}:${addresses.join(',')}`] as const]),
    ['http.followRedirects', 'false'],
    ['credential.helper', ''],
    ...(credentials ? [[`credential.${origin}.helper`, HELPER] as const] : []),
  ]
  const environment = {
    GIT_ALLOW_PROTOCOL: 'http:https',
    ...(credentials && { HEARTH_REMOTE_USER: credentials.username, HEARTH_REMOTE_PASSWORD: credentials.password }),
  }
  return { settings, environment }
}

const isAddress = (hostname: string): boolean => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0

/** A shell function, as git runs it: with `get` it prints what the environment holds. `echo` would read backslashes. */
const HELPER = `!f() { test "$1" = get && printf 'username=%s\\npassword=%s\\n' "$HEARTH_REMOTE_USER" "$HEARTH_REMOTE_PASSWORD"; }; f`
