import { t } from 'elysia'
import { streamedBody } from '../../http/body.ts'
import { queryText } from '../../http/query.ts'

/** A file in a form, or as the body itself. */
export const UploadedFile = streamedBody(t.Object({ attachment: t.Optional(t.String({ format: 'binary' })) }))

export const uploadQuery = t.Object({
  name: queryText({ description: 'Name of the file; without it the one in the form' }),
})

/** What the description of a route says that takes a file. */
export const uploadDetail = {
  'x-consumes': ['multipart/form-data', 'application/octet-stream'],
  'x-refuses': [400, 413],
} as const

export const EditAttachmentOptions = t.Object({ name: t.Optional(t.String()) }, { $id: 'EditAttachmentOptions' })
