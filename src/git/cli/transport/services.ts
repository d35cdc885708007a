import { sha256Hex } from '../../../kernel/hashing.ts'
import { GitError } from '../../errors.ts'
import type { Served } from '../../model.ts'
import { type Child, type Command, type Exit, guardStream } from '../process/process.ts'
import { type RefState, readRefState } from '../refs/ref-state.ts'
import type { Store } from '../store.ts'

/** What upload-pack and receive-pack are given besides the settings of every git process. */
export const SETTINGS = {
  'upload-pack': [
    ['uploadpack.allowFilter', 'true'],
    // Never allowAnySHA1InWant: version 2 answers for any stored object as it is, older versions shall not.
    ['uploadpack.allowReachableSHA1InWant', 'true'],
    // Never allowRefInWant: git 2.39 then sends the sections of a shallow clone in an order its own client refuses.
  ],
  'receive-pack': [
    // One pack and its index are flushed, instead of each object of a small push (reliability.md, section 1).
    ['receive.unpackLimit', '1'],
    ['receive.autogc', 'false'],
    ['receive.advertisePushOptions', 'true'],
    ['receive.advertiseAtomic', 'true'],
    // The branch that clones start from stays; Gitea refuses its deletion too.
    ['receive.denyDeleteCurrent', 'refuse'],
    ['receive.denyNonFastForwards', 'false'],
    ['receive.hideRefs', 'refs/pull'],
    ['receive.hideRefs', 'refs/hidden'],
  ],
} as const

/** What a client may say in `Git-Protocol`; it becomes an environment variable. */
const PROTOCOL = /^[a-z0-9=:]{1,64}$/

export function protocolVariables(protocol: string | undefined): Record<string, string> {
  return protocol !== undefined && PROTOCOL.test(protocol) ? { GIT_PROTOCOL: protocol } : {}
}

export const isSecondVersion = ({ GIT_PROTOCOL }: Record<string, string>): boolean =>
  GIT_PROTOCOL?.split(':').includes('version=2') ?? false

/** git itself reports most failures to the client, so an exit code ends the stream without an error; an end by us is one. */
export function served(child: Child): Served {
  return { stream: guardStream(child, () => undefined), done: child.exited.then(report) }
}

export const report = ({ exitCode, stderr, stopped }: Exit) => ({
  exitCode: exitCode === 0 && stopped instanceof GitError ? 143 : exitCode,
  stderr: stopped ? `${stopped.message}\n${stderr}` : stderr,
})

/** Of an answer that needed no process. */
export const ENDED_WELL = { exitCode: 0, stderr: '' }

export const inMemory = (bytes: Uint8Array<ArrayBuffer>, end = ENDED_WELL): Served => ({
  bytes,
  stream: new Blob([bytes]).stream(),
  done: Promise.resolve(end),
})

/** What an answer is made from. */
export interface Subject {
  id: number
  folder: string
  protocol: string | undefined
}

/** One stateless request to upload-pack. */
export const uploadPack = (
  { folder, protocol }: Subject,
  body: ReadableStream<Uint8Array> | Uint8Array,
): Omit<Command, 'call'> => ({
  args: ['upload-pack', '--stateless-rpc', folder],
  subject: folder,
  settings: SETTINGS['upload-pack'],
  environment: protocolVariables(protocol),
  stdin: body,
  isTransfer: true,
})

/** Names an answer by everything that it depends on. */
export function digestOf(store: Store, subject: Subject, state: RefState, question: string): string {
  const { version, runner } = store
  const settings = [version, runner.environment, SETTINGS['upload-pack']]
  return sha256Hex(JSON.stringify([settings, subject.id, subject.protocol, state.fingerprint, question]))
}

/** Git succeeded and said nothing on the side, which would be a warning of damage. */
export const isWell = ({ exitCode, stderr }: Pick<Exit, 'exitCode' | 'stderr'>): boolean =>
  exitCode === 0 && stderr === ''

/** No ref, and no setting, was written since its state was read. */
export async function isUnmoved({ folder }: Subject, { stamp }: RefState): Promise<boolean> {
  return (await readRefState(folder))?.stamp === stamp
}
