import { MappingDefinition } from '@actions/workflow-parser/templates/schema/mapping-definition'
import type { TemplateSchema } from '@actions/workflow-parser/templates/schema/template-schema'
import { getWorkflowSchema } from '@actions/workflow-parser/workflows/workflow-schema'

/** Wire: names that the Gitea family has besides GitHub's. */
const FAMILY_PERMISSIONS = ['code', 'projects', 'releases', 'wiki']

let extended: TemplateSchema | undefined

/**
 * GitHub's schema of workflows, which also knows `gitea.*` wherever it knows `github.*`, and the family's permissions. The library has
 * one schema for the whole program, and this changes it in place.
 */
export function workflowSchema(): TemplateSchema {
  extended ??= extend(getWorkflowSchema())
  return extended
}

function extend(schema: TemplateSchema): TemplateSchema {
  for (const { readerContext } of Object.values(schema.definitions))
    if (readerContext.includes('github')) readerContext.push('gitea')
  const { properties } = permissionsOf(schema)
  for (const name of FAMILY_PERMISSIONS) if (properties.contents) properties[name] = properties.contents
  return schema
}

function permissionsOf(schema: TemplateSchema): MappingDefinition {
  const definition = schema.getDefinition('permissions-mapping')
  if (!(definition instanceof MappingDefinition)) throw new Error('the schema of workflows has no permissions')
  return definition
}

/** Of everything that `permissions` can name. */
export const permissionNames = (): string[] => Object.keys(permissionsOf(workflowSchema()).properties)
