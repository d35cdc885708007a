import { sql } from 'drizzle-orm'
import { comments, issues } from '../../../../db/schema/issues.ts'
import { MAX_BODY_LENGTH } from '../../issues/schema.ts'
import { authorOf, type Batch, distinctBy, type Part } from '../batch.ts'
import { type Fields, idOf, numberOf, pastTimeOf, textOf } from '../read.ts'
import { findItems, insertItems } from '../store.ts'

export const commentsPart: Part = { name: 'comments', path: 'issues/comments', query: {}, carry: carryComments }

/** Those on issues that have come. */
async function carryComments(batch: Batch, items: readonly Fields[]): Promise<number> {
  const { db } = batch.context
  const repositoryId = batch.repository.id
  const given = distinctBy(
    items.flatMap((item) => readComment(batch, item)),
    ({ idThere }) => idThere,
  )
  const [known, issueIds] = [
    await findItems(
      db,
      { repositoryId, part: 'comments' },
      given.map(({ idThere }) => idThere),
    ),
    await findItems(
      db,
      { repositoryId, part: 'issues' },
      given.map(({ number }) => number),
    ),
  ]
  const fresh = given.flatMap(({ number, ...comment }) => {
    const issueId = issueIds.get(number)
    return issueId && !known.has(comment.idThere) ? [{ ...comment, issueId }] : []
  })
  if (fresh.length === 0) return 0
  await insertItems(
    db,
    { repositoryId, part: 'comments' },
    fresh.map(({ idThere }) => ({ idThere, idHere: null })),
  )
  const made = await db.execute(sql`
    insert into ${comments} (issue_id, poster_id, original_author, original_author_id, body, created_at, updated_at)
    select "issueId", "posterId", "originalAuthor", "originalAuthorId", given.body, "createdAt", "updatedAt"
    from json_to_recordset(${JSON.stringify(fresh)}::text::json) as given("issueId" bigint, "posterId" bigint,
      "originalAuthor" text, "originalAuthorId" bigint, body text, "createdAt" timestamptz, "updatedAt" timestamptz,
      "idThere" bigint)
    -- Issues may be deleted here meanwhile.
    join ${issues} on ${issues.id} = "issueId"
    order by "createdAt", "idThere"
    returning ${comments.id}`)
  return made.length
}

function readComment(batch: Batch, item: Fields) {
  const idThere = idOf(item.id)
  // Wire: the address of the page of the issue; that of pull requests stands in another field.
  const [, digits] = /\/issues\/(\d{1,10})$/.exec(textOf(item.issue_url, 2048)) ?? []
  const number = numberOf(Number(digits))
  if (idThere === undefined || number === undefined) return []
  const createdAt = pastTimeOf(item.created_at, batch.now) ?? batch.now
  const updatedAt = pastTimeOf(item.updated_at, batch.now) ?? createdAt
  const body = textOf(item.body, MAX_BODY_LENGTH)
  return [{ idThere, number, ...authorOf(batch, item), body, createdAt, updatedAt }]
}
