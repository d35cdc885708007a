import { t } from 'elysia'

export const GitignoreTemplateInfo = t.Object(
  { name: t.String(), source: t.String() },
  { $id: 'GitignoreTemplateInfo' },
)

export const LicensesTemplateListEntry = t.Object(
  { key: t.String(), name: t.String(), url: t.String() },
  { $id: 'LicensesTemplateListEntry' },
)

export const LicenseTemplateInfo = t.Object(
  { key: t.String(), name: t.String(), url: t.String(), implementation: t.String(), body: t.String() },
  { $id: 'LicenseTemplateInfo' },
)

export const LabelTemplate = t.Object(
  { name: t.String(), color: t.String(), description: t.String(), exclusive: t.Boolean() },
  { $id: 'LabelTemplate' },
)
