import { t } from 'elysia'

const body = () => t.String({ minLength: 1, maxLength: 1024 * 1024 })

export type CreateIssueCommentOption = typeof CreateIssueCommentOption.static
export const CreateIssueCommentOption = t.Object({ body: body() }, { $id: 'CreateIssueCommentOption' })

export type EditIssueCommentOption = typeof EditIssueCommentOption.static
export const EditIssueCommentOption = t.Object({ body: body() }, { $id: 'EditIssueCommentOption' })
