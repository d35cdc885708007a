import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { DEFAULT_CONFIG } from './config.ts'
import { IssueConfig, IssueConfigValidation, IssueTemplate } from './schema.ts'
import { listIssueTemplates, readIssueConfig } from './service.ts'

const readRepo = { unit: 'repo.code', scope: 'repository' } as const

/** What the files of a repository say about new issues. */
export const issueTemplateRoutes = (context: Context) =>
  new Elysia({ name: 'issue-templates', prefix: '/repos/:owner/:repo', detail: { tags: ['repository'] } })
    .use(gate(context))
    .get('/issue_templates', ({ repo }) => listIssueTemplates(context, repo.repository), {
      readRepo,
      response: { 200: t.Array(IssueTemplate) },
      detail: { operationId: 'repoGetIssueTemplates', summary: 'Templates and forms for new issues' },
    })
    .get(
      '/issue_config',
      async ({ repo }) => (await readIssueConfig(context, repo.repository)).config ?? DEFAULT_CONFIG,
      {
        readRepo,
        response: { 200: IssueConfig },
        detail: { operationId: 'repoGetIssueConfig', summary: 'Settings for new issues' },
      },
    )
    .get(
      '/issue_config/validate',
      async ({ repo }) => {
        const { fault } = await readIssueConfig(context, repo.repository)
        return { valid: fault === undefined, message: fault ?? '' }
      },
      {
        readRepo,
        response: { 200: IssueConfigValidation },
        detail: { operationId: 'repoValidateIssueConfig', summary: 'Whether the settings for new issues are valid' },
      },
    )
