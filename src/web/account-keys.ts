import { Elysia } from 'elysia'
import type { UserRow } from '../../db/schema/users.ts'
import { maySeeOwner } from '../access/decide.ts'
import { findAccount } from '../access/load-account.ts'
import type { Context } from '../context.ts'
import { listCertificates } from '../features/gpg-keys/store.ts'
import { listAllKeys } from '../features/public-keys/store.ts'
import { gate } from '../http/gate.ts'

/**
 * `/NAME.keys` and `/NAME.gpg`: the public keys of an account, for scripts. Unknown and hidden accounts have the same answer, which is
 * that of every other path without a page. Old names lead nowhere: nobody is to be let in by the keys of somebody else.
 */
export const accountKeyPages = (context: Context) =>
  new Elysia({ name: 'account-keys', detail: { hide: true } }).use(gate(context)).get(
    '/:owner',
    async ({ actor, params }) => {
      const [, name, kind] = /^(.+)\.(keys|gpg)$/.exec(params.owner) ?? []
      const account = name === undefined ? undefined : await findAccount(context.db, name, actor?.user.id)
      if (!account || !maySeeOwner(context.config, actor, account.row, account.isRelated))
        return plainText('404 page not found\n', 404)
      const list = kind === 'gpg' ? listGpgKeys : listSshKeys
      return plainText(await list(context, account.row))
    },
    { open: { scope: { area: 'user' } } },
  )

/** Lines as in authorized_keys. Wire: kind and content. What somebody wrote behind them is for nobody else. */
async function listSshKeys({ db }: Context, { id }: UserRow): Promise<string> {
  const keys = await listAllKeys(db, id)
  return keys.map(({ key }) => `${key.split(' ').slice(0, 2).join(' ')}\n`).join('')
}

/** Wire: without keys it is a block that says so. */
async function listGpgKeys({ db, openPgp }: Context, { id, keepEmailPrivate }: UserRow): Promise<string> {
  const certificates = await listCertificates(db, id)
  if (certificates.length > 0) return openPgp.publish(certificates, keepEmailPrivate)
  const frame = (side: string) => `-----${side} PGP PUBLIC KEY BLOCK-----\n`
  return `${frame('BEGIN')}Note: This user hasn't uploaded any GPG keys.\n\n\n${frame('END')}`
}

const plainText = (text: string, status = 200): Response =>
  new Response(text, { status, headers: { 'content-type': 'text/plain;charset=utf-8' } })
