import { t } from 'elysia'
import type { LabelRow } from '../../db/schema/issues.ts'
import { int64 } from './fields.ts'

export type Label = typeof Label.static
export const Label = t.Object(
  {
    id: int64(),
    name: t.String(),
    exclusive: t.Boolean(),
    is_archived: t.Boolean(),
    color: t.String({ description: 'Six hexadecimal digits' }),
    description: t.String(),
    url: t.String(),
  },
  { $id: 'Label' },
)

/** A label of an organization has its address there, also on an issue. */
export const presentIssueLabel = (
  label: LabelRow,
  { apiUrl, ownerName }: { apiUrl: string; ownerName: string },
  { baseUrl }: { baseUrl: string },
): Label => presentLabel(label, label.organizationId === null ? apiUrl : `${baseUrl}/api/v1/orgs/${ownerName}`)

/** @param parentUrl the address in the API of the repository or the organization that has the label */
export function presentLabel(label: LabelRow, parentUrl: string): Label {
  return {
    id: label.id,
    name: label.name,
    exclusive: label.isExclusive,
    is_archived: label.isArchived,
    color: label.color,
    description: label.description,
    url: `${parentUrl}/labels/${label.id}`,
  }
}
