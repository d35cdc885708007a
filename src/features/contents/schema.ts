import { t } from 'elysia'
import { queryText } from '../../http/query.ts'
import { wireInstant } from '../../wire/fields.ts'

const branch = (description: string) => t.Optional(t.String({ maxLength: 100, description }))
const sha = (description: string) => t.String({ maxLength: 64, description })
const content = (description = 'Base64') => t.String({ description })

export type Identity = typeof Identity.static
export const Identity = t.Object(
  {
    name: t.Optional(t.String({ maxLength: 100 })),
    email: t.Optional(t.String({ maxLength: 254, description: 'Without it the identity counts as left out' })),
  },
  { $id: 'Identity' },
)

export type CommitDateOptions = typeof CommitDateOptions.static
export const CommitDateOptions = t.Object(
  { author: t.Optional(wireInstant()), committer: t.Optional(wireInstant()) },
  { $id: 'CommitDateOptions' },
)

const commit = {
  author: t.Optional(Identity),
  committer: t.Optional(Identity),
  dates: t.Optional(CommitDateOptions),
  branch: branch('To build upon; the default branch without it'),
  new_branch: branch('To make for the commit; it must not exist'),
  force_push: t.Optional(t.Boolean({ description: 'Lets `new_branch` be a branch that exists, which then moves' })),
  message: t.Optional(t.String({ maxLength: 65_536, description: 'Without it: what was done to which file' })),
  signoff: t.Optional(t.Boolean({ description: 'Adds a `Signed-off-by` line of the committer' })),
}

export type CommitOptions = Omit<DeleteFileOptions, 'sha'>

export type DeleteFileOptions = typeof DeleteFileOptions.static
export const DeleteFileOptions = t.Object(
  { ...commit, sha: t.Optional(sha('Blob that the file must be; it may stand in the query instead')) },
  { $id: 'DeleteFileOptions' },
)

/** Wire: clients that send no body with DELETE put the same into the query; the body wins. */
export const deleteFileQuery = t.Object({
  sha: queryText({ description: 'Blob that the file must be' }),
  branch: queryText({ description: 'To build upon; the default branch without it' }),
  new_branch: queryText({ description: 'To make for the commit; it must not exist' }),
  message: queryText(),
})

export type CreateFileOptions = typeof CreateFileOptions.static
export const CreateFileOptions = t.Object(
  { ...commit, content: t.Optional(content('Base64; an empty file without it')) },
  { $id: 'CreateFileOptions' },
)

export type UpdateFileOptions = typeof UpdateFileOptions.static
export const UpdateFileOptions = t.Object(
  {
    ...commit,
    content: content(),
    sha: t.Optional(sha('Blob that the file must be; without it the file is made and must not exist')),
    from_path: t.Optional(t.String({ maxLength: 500, description: 'Where the file is moved from' })),
  },
  { $id: 'UpdateFileOptions' },
)

const operations = ['create', 'update', 'upload', 'rename', 'delete'] as const

export type ChangeFileOperation = typeof ChangeFileOperation.static
export const ChangeFileOperation = t.Object(
  {
    operation: t.Union(
      operations.map((name) => t.Literal(name)),
      { description: '`upload` takes a new file and an old one' },
    ),
    path: t.String({ minLength: 1, maxLength: 500 }),
    content: t.Optional(content()),
    sha: t.Optional(sha('Blob that the file must be; without it whatever is there is changed')),
    from_path: t.Optional(t.String({ maxLength: 500, description: 'Where the file is moved from' })),
  },
  { $id: 'ChangeFileOperation' },
)

export type ChangeFilesOptions = typeof ChangeFilesOptions.static
export const ChangeFilesOptions = t.Object(
  { ...commit, files: t.Array(ChangeFileOperation, { minItems: 1, maxItems: 1000 }) },
  { $id: 'ChangeFilesOptions' },
)

export type ApplyDiffPatchFileOptions = typeof ApplyDiffPatchFileOptions.static
export const ApplyDiffPatchFileOptions = t.Object(
  { ...commit, content: t.String({ description: 'A patch as `git diff` and `git format-patch` write it' }) },
  { $id: 'ApplyDiffPatchFileOptions' },
)

export const GetFilesOptions = t.Object({ files: t.Array(t.String({ maxLength: 4096 })) }, { $id: 'GetFilesOptions' })
