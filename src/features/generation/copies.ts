import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.ts'
import { hooks } from '../../../db/schema/hooks.ts'
import { labels } from '../../../db/schema/issues.ts'
import { branchProtections } from '../../../db/schema/protections.ts'
import type { GenerateRepoOption } from './schema.ts'

interface Pair {
  id: number
  templateId: number
}

/** Copies what stands in rows of their own and was asked for. */
export async function copyRows(tx: Db, pair: Pair, option: GenerateRepoOption): Promise<void> {
  if (option.labels) await copyLabels(tx, pair)
  if (option.webhooks) await copyHooks(tx, pair)
  if (option.protected_branch) await copyProtections(tx, pair)
}

async function copyLabels(tx: Db, { id, templateId }: Pair): Promise<void> {
  await tx.execute(sql`
    insert into ${labels} (repository_id, name, color, description, is_exclusive, is_archived)
    select ${id}::bigint, name, color, description, is_exclusive, is_archived
    from ${labels} where repository_id = ${templateId} order by id`)
}

/** With their secrets: the copy sends to the same place. */
async function copyHooks(tx: Db, { id, templateId }: Pair): Promise<void> {
  await tx.execute(sql`
    insert into ${hooks} (scope, repository_id, type, name, url, sealed_url, content_type, http_method, settings, secret,
      authorization_header, events, branch_filter, is_active)
    select 'repository', ${id}::bigint, type, name, url, sealed_url, content_type, http_method, settings, secret,
      authorization_header, events, branch_filter, is_active
    from ${hooks} where scope = 'repository' and repository_id = ${templateId} and copied_from_id is null order by id`)
}

/** Without the people and teams of the rules, who are those of the template. */
async function copyProtections(tx: Db, { id, templateId }: Pair): Promise<void> {
  const rules = await tx.select().from(branchProtections).where(eq(branchProtections.repositoryId, templateId))
  if (rules.length === 0) return
  await tx.insert(branchProtections).values(rules.map(({ id: _, ...rule }) => ({ ...rule, repositoryId: id })))
}
