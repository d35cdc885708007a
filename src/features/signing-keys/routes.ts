import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { FileBody } from '../../http/download.ts'
import { gate } from '../../http/gate.ts'
import { notFound } from '../../kernel/errors.ts'

const produces = { 'x-produces': 'text/plain' } as const

/** Commits that the service makes are not signed yet, so there is no key to show. */
function noKey(): Response {
  throw notFound('no signing key')
}

export const signingKeyRoutes = (context: Context) =>
  new Elysia({ name: 'signing-keys' })
    .use(gate(context))
    .get('/signing-key.gpg', noKey, {
      open: {},
      response: { 200: FileBody },
      detail: {
        operationId: 'getSigningKey',
        summary: 'The OpenPGP key that signs commits of the service',
        tags: ['miscellaneous'],
        ...produces,
      },
    })
    .get('/signing-key.pub', noKey, {
      open: {},
      response: { 200: FileBody },
      detail: {
        operationId: 'getSigningKeySSH',
        summary: 'The SSH key that signs commits of the service',
        tags: ['miscellaneous'],
        ...produces,
      },
    })
    .get('/repos/:owner/:repo/signing-key.gpg', noKey, {
      readRepo: { scope: 'repository' },
      response: { 200: FileBody },
      detail: {
        operationId: 'repoSigningKey',
        summary: 'The OpenPGP key that signs commits in a repository',
        tags: ['repository'],
        ...produces,
      },
    })
    .get('/repos/:owner/:repo/signing-key.pub', noKey, {
      readRepo: { scope: 'repository' },
      response: { 200: FileBody },
      detail: {
        operationId: 'repoSigningKeySSH',
        summary: 'The SSH key that signs commits in a repository',
        tags: ['repository'],
        ...produces,
      },
    })
