import type { Actor } from '../../auth/actor.ts'
import type { Context } from '../../context.ts'
import { invalid } from '../../kernel/errors.ts'
import type { Page } from '../../kernel/page.ts'
import { findTopicNames } from '../topics/search.ts'
import { type RepositoryFilter, wordsOf } from './filter.ts'
import { listRepositories, type RepositoryPage } from './list.ts'
import { type RepositoryOrder, type RepositorySort, repositorySorts } from './order.ts'

/** What `/repos/search` was asked, by Gitea's names. */
export interface SearchQuery {
  q?: string
  topic?: boolean
  includeDesc?: boolean
  uid?: number
  priority_owner_id?: number
  team_id?: number
  starredBy?: number
  private?: boolean
  is_private?: boolean
  template?: boolean
  archived?: boolean
  mode?: string
  exclusive?: boolean
  sort?: string
  order?: string
}

/** @throws Refusal 422 for an unknown mode, sort or order */
export async function searchRepositories(
  context: Context,
  actor: Actor | undefined,
  query: SearchQuery,
  page: Page,
): Promise<RepositoryPage> {
  const [filter, order] = [filterOf(query), orderOf(query)]
  return listRepositories(context, actor, { filter: await withTopics(context, filter), order, page })
}

/** Topics are looked up beforehand: only names that are known to the planner go through the index of their repositories. */
async function withTopics({ db }: Context, filter: RepositoryFilter): Promise<RepositoryFilter> {
  if (filter.text === undefined || filter.inTopics) return filter
  const topicNames = await findTopicNames(db, wordsOf(filter.text))
  return topicNames.length === 0 ? filter : { ...filter, topicNames }
}

function filterOf(query: SearchQuery): RepositoryFilter {
  return {
    text: query.q,
    inTopics: query.topic,
    inDescription: query.includeDesc,
    teamId: wantedId(query.team_id),
    starredById: wantedId(query.starredBy),
    isTemplate: query.template,
    isArchived: query.archived,
    ...modeOf(query),
    // `private=false` leaves private ones out; `is_private` chooses one sort or the other.
    isPrivate: query.is_private ?? (query.private === false ? false : undefined),
  }
}

/** Wire: 0 asks for nobody's, which is no condition. */
const wantedId = (id: number | undefined): number | undefined => (id === 0 ? undefined : id)

function modeOf(query: SearchQuery): RepositoryFilter {
  const uid = wantedId(query.uid)
  const owned = query.exclusive ? { ownerId: uid } : { involvedId: uid }
  switch (query.mode) {
    case undefined:
      return owned
    case 'source':
      return { ...owned, isFork: false, isMirror: false }
    case 'fork':
      return { ...owned, isFork: true }
    case 'mirror':
      return { ...owned, isMirror: true }
    case 'collaborative':
      return { contributorId: uid, isMirror: false }
    default:
      throw invalid(`Invalid search mode: "${query.mode}"`)
  }
}

/** Wire: without `sort` the order is by name, whatever `order` says. */
function orderOf({ sort, order, priority_owner_id: priority }: SearchQuery): RepositoryOrder {
  const firstOwnerId = wantedId(priority)
  if (sort === undefined) return { by: 'name', firstOwnerId }
  if (!isSort(sort)) throw invalid(`Invalid sort mode: "${sort}"`)
  if (order !== undefined && order !== 'asc' && order !== 'desc') throw invalid(`Invalid sort order: "${order}"`)
  return { by: sort, isDescending: order === 'desc', firstOwnerId }
}

const isSort = (name: string): name is RepositorySort =>
  name !== 'name' && repositorySorts.some((sort) => sort === name)
