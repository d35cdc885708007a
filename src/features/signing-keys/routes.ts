import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { FileBody } from '../../http/download.ts'
import { gate } from '../../http/gate.ts'
import { notFound } from '../../kernel/errors.ts'

const produces = { 'x-produces': 'text/plain' } as const

/** @throws Refusal 404: keys of the instance are SSH keys. Wire: the words are Gitea's. */
function refuseGpg({ signing }: Context): Response {
  throw notFound(signing.key ? 'signing key format is ssh' : 'no signing key')
}

/** @throws Refusal 404 */
function showKey({ signing }: Context): Response {
  if (!signing.key) throw notFound('no signing key')
  return new Response(`${signing.key.publicKey}\n`, { headers: { 'content-type': 'text/plain;charset=utf-8' } })
}

export const signingKeyRoutes = (context: Context) =>
  new Elysia({ name: 'signing-keys' })
    .use(gate(context))
    .get('/signing-key.gpg', () => refuseGpg(context), {
      open: {},
      response: { 200: FileBody },
      detail: {
        operationId: 'getSigningKey',
        summary: 'The OpenPGP key that signs commits of the service',
        tags: ['miscellaneous'],
        ...produces,
      },
    })
    .get('/signing-key.pub', () => showKey(context), {
      open: {},
      response: { 200: FileBody },
      detail: {
        operationId: 'getSigningKeySSH',
        summary: 'The SSH key that signs commits of the service',
        tags: ['miscellaneous'],
        ...produces,
      },
    })
    .get('/repos/:owner/:repo/signing-key.gpg', () => refuseGpg(context), {
      readRepo: { scope: 'repository' },
      response: { 200: FileBody },
      detail: {
        operationId: 'repoSigningKey',
        summary: 'The OpenPGP key that signs commits in a repository',
        tags: ['repository'],
        ...produces,
      },
    })
    .get('/repos/:owner/:repo/signing-key.pub', () => showKey(context), {
      readRepo: { scope: 'repository' },
      response: { 200: FileBody },
      detail: {
        operationId: 'repoSigningKeySSH',
        summary: 'The SSH key that signs commits in a repository',
        tags: ['repository'],
        ...produces,
      },
    })
