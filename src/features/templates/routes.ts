import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { notFound } from '../../kernel/errors.ts'
import { GitignoreTemplateInfo, LabelTemplate, LicensesTemplateListEntry, LicenseTemplateInfo } from './schema.ts'

/** How to use a license, sent with each of them. */
const HOW_TO =
  'Put this text into a file named LICENSE at the root of the repository, with the year and your name filled in.'

export const templateRoutes = (context: Context) => {
  const { templates, baseUrl } = context
  // Wire: key and name are both the SPDX identifier.
  const entry = (key: string) => ({ key, name: key, url: `${baseUrl}/api/v1/licenses/${key}` })
  return new Elysia({ name: 'templates', detail: { tags: ['miscellaneous'] } })
    .use(gate(context))
    .get('/gitignore/templates', () => templates.listGitignores(), {
      open: {},
      response: { 200: t.Array(t.String()) },
      detail: { operationId: 'listGitignoresTemplates', summary: 'Names of the templates for .gitignore' },
    })
    .get(
      '/gitignore/templates/:name',
      async ({ params: { name } }) => ({ name, source: found(await templates.gitignore(name)) }),
      {
        open: {},
        response: { 200: GitignoreTemplateInfo },
        detail: { operationId: 'getGitignoreTemplateInfo', summary: 'A template for .gitignore' },
      },
    )
    .get('/licenses', async () => (await templates.listLicenses()).map(entry), {
      open: {},
      response: { 200: t.Array(LicensesTemplateListEntry) },
      detail: { operationId: 'listLicenseTemplates', summary: 'The licenses that a repository can start with' },
    })
    .get(
      '/licenses/:name',
      async ({ params: { name } }) => {
        const body = found(await templates.license(name))
        return { ...entry(name), implementation: HOW_TO, body }
      },
      {
        open: {},
        response: { 200: LicenseTemplateInfo },
        detail: { operationId: 'getLicenseTemplateInfo', summary: 'The text of a license' },
      },
    )
    .get('/label/templates', () => templates.listLabelSets(), {
      open: {},
      response: { 200: t.Array(t.String()) },
      detail: { operationId: 'listLabelTemplates', summary: 'Names of the sets of labels' },
    })
    .get('/label/templates/:name', async ({ params: { name } }) => found(await templates.labelSet(name)), {
      open: {},
      response: { 200: t.Array(LabelTemplate) },
      detail: { operationId: 'getLabelTemplateInfo', summary: 'The labels of a set' },
    })
}

function found<Template>(template: Template | undefined): Template {
  if (template === undefined) throw notFound()
  return template
}
