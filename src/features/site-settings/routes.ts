import { Elysia, t } from 'elysia'
import { DEFAULT_THEME } from '../../../db/schema/users.ts'
import type { Context } from '../../context.ts'
import { gate } from '../../http/gate.ts'
import { MAX_BLOB_BYTES, MAX_RESPONSE_BYTES, TREES_PER_PAGE } from '../../wire/limits.ts'
import { REACTIONS } from '../../wire/reaction.ts'

const integer = t.Integer()

const GeneralAPISettings = t.Object(
  {
    max_response_items: integer,
    default_paging_num: integer,
    default_git_trees_per_page: integer,
    default_max_blob_size: integer,
    default_max_response_size: integer,
  },
  { $id: 'GeneralAPISettings' },
)

const GeneralAttachmentSettings = t.Object(
  { enabled: t.Boolean(), allowed_types: t.String(), max_size: integer, max_files: integer },
  { $id: 'GeneralAttachmentSettings' },
)

const GeneralRepoSettings = t.Object(
  {
    mirrors_disabled: t.Boolean(),
    http_git_disabled: t.Boolean(),
    migrations_disabled: t.Boolean(),
    stars_disabled: t.Boolean(),
    time_tracking_disabled: t.Boolean(),
    lfs_disabled: t.Boolean(),
  },
  { $id: 'GeneralRepoSettings' },
)

const GeneralUISettings = t.Object(
  { default_theme: t.String(), allowed_reactions: t.Array(t.String()), custom_emojis: t.Array(t.String()) },
  { $id: 'GeneralUISettings' },
)

/** Wire: short names of pictures besides the characters of Unicode. */
const CUSTOM_EMOJIS = ['git', 'gitea', 'codeberg', 'gitlab', 'github', 'gogs']

/** What clients may want to know before they try. */
export const siteSettingsRoutes = (context: Context) => {
  const { config } = context
  const pages = {
    max_response_items: config.maxResponseItems,
    default_paging_num: config.defaultPagingNum,
    default_git_trees_per_page: TREES_PER_PAGE,
    default_max_blob_size: MAX_BLOB_BYTES,
    default_max_response_size: MAX_RESPONSE_BYTES,
  }
  const attachments = {
    enabled: config.attachmentEnabled,
    allowed_types: config.attachmentAllowedTypes.join(),
    max_size: Math.floor(config.attachmentMaxSize / 1024 ** 2),
    max_files: config.attachmentMaxFiles,
  }
  const abilities = {
    mirrors_disabled: false,
    http_git_disabled: false,
    migrations_disabled: false,
    stars_disabled: false,
    time_tracking_disabled: false,
    lfs_disabled: !config.lfsEnabled,
  }
  const looks = {
    default_theme: DEFAULT_THEME,
    allowed_reactions: [...REACTIONS],
    custom_emojis: [...CUSTOM_EMOJIS],
  }
  return new Elysia({ name: 'site-settings', prefix: '/settings', detail: { tags: ['settings'] } })
    .use(gate(context))
    .get('/api', () => pages, {
      open: {},
      response: { 200: GeneralAPISettings },
      detail: { operationId: 'getGeneralAPISettings', summary: 'Sizes of pages and answers' },
    })
    .get('/attachment', () => attachments, {
      open: {},
      response: { 200: GeneralAttachmentSettings },
      detail: {
        operationId: 'getGeneralAttachmentSettings',
        summary: 'What may be attached; sizes are in mebibytes',
      },
    })
    .get('/repository', () => abilities, {
      open: {},
      response: { 200: GeneralRepoSettings },
      detail: { operationId: 'getGeneralRepositorySettings', summary: 'Which abilities of repositories are off' },
    })
    .get('/ui', () => looks, {
      open: {},
      response: { 200: GeneralUISettings },
      detail: { operationId: 'getGeneralUISettings', summary: 'Theme, reactions and emoji' },
    })
}
