import { and, eq, sql } from 'drizzle-orm'
import { anyOf } from '../../../../db/any-of.ts'
import type { Db } from '../../../../db/client.ts'
import { refs } from '../../../../db/schema/refs.ts'
import { releases } from '../../../../db/schema/releases.ts'
import { isValidTagName } from '../../../git/names.ts'
import { MAX_BODY_LENGTH } from '../../issues/schema.ts'
import { type Batch, distinctBy, type Part } from '../batch.ts'
import { noteFiles } from '../files/note.ts'
import { type Fields, lineOf, pastTimeOf, textOf } from '../read.ts'

export const releasesPart: Part = { name: 'releases', path: 'releases', query: {}, carry: carryReleases }

/** One whose tag has not come is a draft here. */
async function carryReleases(batch: Batch, items: readonly Fields[]): Promise<number> {
  const { db } = batch.context
  const given = distinctBy(
    items.flatMap((item) => readRelease(item, batch.now)),
    ({ tagName }) => tagName,
  )
  const tags = await holdTags(
    db,
    batch.repository.id,
    given.map(({ tagName }) => tagName),
  )
  const rows = given.map(({ assets: _, ...release }) => {
    const isDraft = release.isDraft || !tags.has(release.tagName)
    return { ...release, isDraft, publishedAt: isDraft ? null : release.publishedAt }
  })
  const made = await db.execute<{ id: number; tag_name: string }>(sql`
    insert into ${releases} (repository_id, author_id, tag_name, target, title, body, is_draft, is_prerelease, created_at,
      updated_at, published_at)
    select ${batch.repository.id}::bigint, ${batch.doer?.id ?? null}::bigint, "tagName", target, title, body, "isDraft",
      "isPrerelease", "createdAt", "createdAt", "publishedAt"
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as given("tagName" text, target text, title text, body text,
      "isDraft" boolean, "isPrerelease" boolean, "createdAt" timestamptz, "publishedAt" timestamptz)
    order by "createdAt"
    on conflict (repository_id, tag_name) do nothing
    returning id::int8, tag_name`)
  const ids = new Map(made.map(({ id, tag_name }) => [tag_name, Number(id)]))
  await noteFiles(
    batch,
    given.flatMap(({ tagName, assets }) => {
      const releaseId = ids.get(tagName)
      return releaseId === undefined ? [] : [{ releaseId, assets }]
    }),
  )
  return made.length
}

function readRelease(item: Fields, now: Date) {
  const tagName = textOf(item.tag_name, 255)
  if (!isValidTagName(tagName)) return []
  const createdAt = pastTimeOf(item.created_at, now) ?? now
  return [
    {
      tagName,
      target: lineOf(item.target_commitish, 255),
      title: lineOf(item.name, 255),
      body: textOf(item.body, MAX_BODY_LENGTH),
      isDraft: item.draft === true,
      isPrerelease: item.prerelease === true,
      createdAt,
      publishedAt: pastTimeOf(item.published_at, now) ?? createdAt,
      assets: item.assets,
    },
  ]
}

/** Those of the names that are tags; until the end of the transaction none goes unnoticed. */
async function holdTags(tx: Db, repositoryId: number, names: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await tx
    .select({ name: refs.name })
    .from(refs)
    .where(and(eq(refs.repositoryId, repositoryId), eq(refs.kind, 'tag'), anyOf(refs.name, names)))
    .for('key share')
  return new Set(rows.map(({ name }) => name))
}
