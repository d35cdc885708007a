import { t } from 'elysia'
import { CommitUser, presentSignature, type Signed } from './commit.ts'
import { int64 } from './fields.ts'

/** Wire: `commiter` is what clients read. */
export type WikiCommit = typeof WikiCommit.static
export const WikiCommit = t.Object(
  { sha: t.String(), author: CommitUser, commiter: CommitUser, message: t.String() },
  { $id: 'WikiCommit' },
)

export type WikiCommitList = typeof WikiCommitList.static
export const WikiCommitList = t.Object(
  { commits: t.Array(WikiCommit), count: int64({ description: 'Of all pages of the list' }) },
  { $id: 'WikiCommitList' },
)

const about = {
  title: t.String(),
  html_url: t.String(),
  sub_url: t.String({ description: 'The title as it stands in addresses' }),
  last_commit: WikiCommit,
}

export type WikiPageMetaData = typeof WikiPageMetaData.static
export const WikiPageMetaData = t.Object(about, { $id: 'WikiPageMetaData' })

const base64 = (of: string) =>
  t.String({ description: `${of}, in Base64; empty where there is none, and above 10 MiB` })

export type WikiPage = typeof WikiPage.static
export const WikiPage = t.Object(
  {
    ...about,
    content_base64: base64('Content of the page'),
    commit_count: int64(),
    sidebar: base64('Content of `_Sidebar`'),
    footer: base64('Content of `_Footer`'),
  },
  { $id: 'WikiPage' },
)

interface ShownCommit {
  sha: string
  author: Signed
  committer: Signed
  message: string
}

export const presentWikiCommit = ({ sha, author, committer, message }: ShownCommit): WikiCommit => ({
  sha,
  author: presentSignature(author),
  commiter: presentSignature(committer),
  message,
})

interface ShownPage {
  title: string
  address: string
  lastCommit: ShownCommit
}

export const presentWikiPageMetaData = (
  { title, address, lastCommit }: ShownPage,
  { htmlUrl }: { htmlUrl: string },
): WikiPageMetaData => ({
  title,
  html_url: `${htmlUrl}/wiki/${address}`,
  sub_url: address,
  last_commit: presentWikiCommit(lastCommit),
})

interface ShownContent {
  content: string
  sidebar: string
  footer: string
  commitCount: number
}

export const presentWikiPage = (page: ShownPage & ShownContent, place: { htmlUrl: string }): WikiPage => ({
  ...presentWikiPageMetaData(page, place),
  content_base64: page.content,
  commit_count: page.commitCount,
  sidebar: page.sidebar,
  footer: page.footer,
})
