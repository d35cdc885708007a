import { LRUCache } from 'lru-cache'
import { sha256Hex } from '../kernel/hashing.ts'
import { createThreadPool, ThreadTimeout } from '../threads/pool.ts'
import { locateProgram } from '../threads/programs.ts'
import type { Certificate } from './openpgp/model.ts'
import type { OpenPgpAnswer, OpenPgpTask } from './openpgp-worker.ts'

/** Signatures of others swell the keys of well-known people. Larger texts are refused before anything looks at them. */
export const MAX_CERTIFICATE_TEXT_LENGTH = 512 * 1024

/** A key that is not taken: why, in a sentence that goes on after "it". */
export class CertificateError extends Error {}

/** OpenPGP keys and signatures, read in a thread that starts with the first of them. */
export interface OpenPgp {
  /** @throws CertificateError */
  readCertificate(armored: string, now: Date): Promise<Certificate>
  /** The identifier of the key that a signature says to be by; undefined for what is no signature. */
  issuerOf(armored: string): Promise<string | undefined>
  /**
   * Whether the key with this certificate, or a subkey of it, has signed one of the contents.
   * @throws ThreadsBusy when too many wait
   */
  isSignedBy(certificate: Uint8Array, signed: Signed): Promise<boolean>
  /** Keys in one armored block. @param hidesUserIds leaves out names and addresses */
  publish(certificates: readonly Uint8Array[], hidesUserIds: boolean): Promise<string>
  stop(): void
}

export interface Signed {
  armored: string
  contents: readonly Uint8Array[]
  now: Date
}

/** Each takes some 150 bytes. A page of 50 signed commits takes half a second of a processor when it is new, and 1 ms from the cache. */
const MAX_CACHED = 10_000
const DEADLINE_MS = 5000

export function createOpenPgp(): OpenPgp {
  const pool = createThreadPool<OpenPgpTask, OpenPgpAnswer>({
    program: locateProgram('signatures/openpgp-worker.ts'),
    // One stays for others while a key that was made to cost time is read.
    threads: 2,
    deadlineMs: DEADLINE_MS,
    maxWaiting: 1000,
    maxWaitMs: 20_000,
  })
  const issuers = new LRUCache<string, { keyId: string | undefined }>({ max: MAX_CACHED })
  const verdicts = new LRUCache<string, boolean>({ max: MAX_CACHED })
  /** What cannot be read in time is no key and no signature. */
  const ask = async (task: OpenPgpTask): Promise<OpenPgpAnswer> => {
    try {
      return await pool.run(task)
    } catch (error) {
      if (error instanceof ThreadTimeout) return { kind: 'refused', reason: 'takes too long to read' }
      throw error
    }
  }
  return {
    async readCertificate(armored, now) {
      if (armored.length > MAX_CERTIFICATE_TEXT_LENGTH) throw new CertificateError('is too long')
      const answer = await ask({ kind: 'certificate', armored, now })
      if (answer.kind === 'certificate') return answer.certificate
      throw new CertificateError(answer.kind === 'refused' ? answer.reason : 'cannot be read')
    },
    async issuerOf(armored) {
      const key = sha256Hex(armored)
      const cached = issuers.get(key)
      if (cached) return cached.keyId
      const answer = await ask({ kind: 'issuer', armored })
      const keyId = answer.kind === 'issuer' ? answer.keyId : undefined
      issuers.set(key, { keyId })
      return keyId
    },
    async isSignedBy(certificate, { armored, contents, now }) {
      const key = [certificate, armored, ...contents].map(sha256Hex).join()
      const cached = verdicts.get(key)
      if (cached !== undefined) return cached
      const answer = await ask({ kind: 'signed', certificate, armored, contents, now })
      if (answer.kind !== 'signed') return false
      if (answer.isFinal) verdicts.set(key, answer.isSigned)
      return answer.isSigned
    },
    async publish(certificates, hidesUserIds) {
      const answer = await ask({ kind: 'publish', certificates, hidesUserIds })
      if (answer.kind !== 'published') throw new Error('the keys cannot be published')
      return answer.text
    },
    stop: () => pool.stop(),
  }
}
