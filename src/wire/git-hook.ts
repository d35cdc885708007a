import { t } from 'elysia'

export type GitHook = typeof GitHook.static
export const GitHook = t.Object(
  { name: t.String(), is_active: t.Boolean(), content: t.Optional(t.String()) },
  { $id: 'GitHook' },
)

export const presentGitHook = ({ name, content }: { name: string; content?: string | undefined }): GitHook =>
  content === undefined ? { name, is_active: false } : { name, is_active: true, content }
