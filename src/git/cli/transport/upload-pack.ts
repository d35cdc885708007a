import { sha256Hex } from '../../../kernel/hashing.ts'
import type { Command, Exit } from '../process/process.ts'
import { type RefState, readRefState } from '../refs/ref-state.ts'
import type { Store } from '../store.ts'
import { protocolVariables, SETTINGS } from './services.ts'

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
