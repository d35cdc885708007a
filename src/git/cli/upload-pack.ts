import { sha256Hex } from '../../kernel/hashing.ts'
import type { Call } from '../model.ts'
import { type Child, type Exit, startGit } from './process.ts'
import { type RefState, readRefState } from './ref-state.ts'
import { protocolVariables, SETTINGS } from './services.ts'
import type { Store } from './store.ts'

/** What an answer is made from. */
export interface Subject {
  id: number
  folder: string
  protocol: string | undefined
}

/** Asks git one stateless request. */
export const askUploadPack = (
  store: Store,
  { folder, protocol }: Subject,
  body: ReadableStream<Uint8Array> | Uint8Array,
  call: Call,
): Promise<Child> =>
  startGit(store.runner, {
    args: ['upload-pack', '--stateless-rpc', folder],
    subject: folder,
    settings: SETTINGS['upload-pack'],
    environment: protocolVariables(protocol),
    stdin: body,
    call,
    isTransfer: true,
  })

/** Names an answer by everything that it depends on. */
export function digestOf(store: Store, subject: Subject, state: RefState, question: string): string {
  const { version, runner } = store
  const settings = [version, runner.environment, SETTINGS['upload-pack']]
  return sha256Hex(JSON.stringify([settings, subject.id, subject.protocol, state.fingerprint, question]))
}

/** Without a word on the side, which would be a warning of damage. */
export const isWell = ({ exitCode, stderr }: Pick<Exit, 'exitCode' | 'stderr'>): boolean =>
  exitCode === 0 && stderr === ''

export async function isUnmoved({ folder }: Subject, { stamp }: RefState): Promise<boolean> {
  return (await readRefState(folder))?.stamp === stamp
}
