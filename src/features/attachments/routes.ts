import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { noFile } from './no-file.ts'
import { serveAttachment } from './serve.ts'
import { getReadableAttachment } from './service.ts'

/** The addresses that `browser_download_url` names, outside of the API; with the repository as some clients write them. */
export const attachmentPages = (context: Context) =>
  new Elysia({ name: 'attachment-pages', detail: { hide: true } })
    .use(gate(context))
    .get(
      '/attachments/:uuid',
      async ({ actor, params, request }) =>
        serveAttachment(context, request, await getReadableAttachment(context, actor, params.uuid)),
      // What kind of file it is decides which scope a token needs.
      { open: { beforeSignIn: false } },
    )
    .get(
      '/:owner/:repo/attachments/:uuid',
      async ({ actor, repo, params, request }) => {
        const attachment = await getReadableAttachment(context, actor, params.uuid)
        if (attachment.repositoryId !== repo.repository.id) throw noFile()
        return serveAttachment(context, request, attachment)
      },
      { readRepo: { scope: 'repository' } },
    )
