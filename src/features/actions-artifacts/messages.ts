import { Type } from '@sinclair/typebox'

/** Wire: protobuf's JSON, with the names of the fields; what a client of a later version says beyond that is passed over. */
const int64 = Type.Union([Type.String({ pattern: '^\\d{1,15}$' }), Type.Integer({ minimum: 0 })])

/** Wire: the run and the job, as the token names them. What was listed names the job that made it. */
const backend = {
  workflow_run_backend_id: Type.String(),
  workflow_job_run_backend_id: Type.Optional(Type.String()),
}

const named = { ...backend, name: Type.String() }

export const CreateArtifactRequest = Type.Object({
  ...named,
  expires_at: Type.Optional(Type.String({ maxLength: 64 })),
  /** Of later versions, which send one file as it is, too. */
  mime_type: Type.Optional(Type.String()),
})
export type CreateArtifactRequest = typeof CreateArtifactRequest.static

export const FinalizeArtifactRequest = Type.Object({
  ...named,
  size: Type.Optional(int64),
  /** `sha256:` and hexadecimal digits. */
  hash: Type.Optional(Type.String()),
})
export type FinalizeArtifactRequest = typeof FinalizeArtifactRequest.static

export const ListArtifactsRequest = Type.Object({
  ...backend,
  name_filter: Type.Optional(Type.String()),
  id_filter: Type.Optional(int64),
})
export type ListArtifactsRequest = typeof ListArtifactsRequest.static

export const NamedArtifactRequest = Type.Object(named)
export type NamedArtifactRequest = typeof NamedArtifactRequest.static
