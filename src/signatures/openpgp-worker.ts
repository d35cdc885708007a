// The thread that reads OpenPGP: the library takes 35 MiB and 0.2 s to load, which a service without such keys is spared.

import { serveTasks } from '../threads/worker.ts'
import { readCertificate } from './openpgp/certificate.ts'
import { judgeSigned, readIssuer } from './openpgp/detached.ts'
import { OpenPgpError } from './openpgp/library.ts'
import type { Certificate, SignedContent, SignedVerdict } from './openpgp/model.ts'
import { publishKeys } from './openpgp/publish.ts'

export type OpenPgpTask =
  | { kind: 'certificate'; armored: string; now: Date }
  | { kind: 'issuer'; armored: string }
  | ({ kind: 'signed' } & SignedContent)
  | { kind: 'publish'; certificates: readonly Uint8Array[]; hidesUserIds: boolean }

export type OpenPgpAnswer =
  | { kind: 'certificate'; certificate: Certificate }
  /** What is wrong with the key, in a sentence that goes on after "it". */
  | { kind: 'refused'; reason: string }
  | { kind: 'issuer'; keyId: string | undefined }
  | ({ kind: 'signed' } & SignedVerdict)
  | { kind: 'published'; text: string }

async function run(task: OpenPgpTask): Promise<OpenPgpAnswer> {
  switch (task.kind) {
    case 'certificate':
      return tryToRead(task.armored, task.now)
    case 'issuer':
      return { kind: 'issuer', keyId: await readIssuer(task.armored) }
    case 'signed':
      return { kind: 'signed', ...(await judgeSigned(task)) }
    case 'publish':
      return { kind: 'published', text: await publishKeys(task.certificates, task.hidesUserIds) }
  }
}

async function tryToRead(armored: string, now: Date): Promise<OpenPgpAnswer> {
  try {
    return { kind: 'certificate', certificate: await readCertificate(armored, now) }
  } catch (error) {
    if (!(error instanceof OpenPgpError)) throw error
    return { kind: 'refused', reason: error.message }
  }
}

serveTasks(run)
