import { t } from 'elysia'

const text = (description: string) => t.Optional(t.String({ description }))

const common = {
  Text: text('What to render'),
  Mode: text('`markdown` (plain), `comment`, `gfm`, `wiki` or `file`; empty means `markdown`'),
  Context: text('`owner/repo`, or the path of a folder such as `/owner/repo/src/branch/main/docs`'),
  Wiki: t.Optional(t.Boolean({ description: 'Whether the text is a page of the wiki' })),
}

export type MarkdownOption = typeof MarkdownOption.static
export const MarkdownOption = t.Object(common, { $id: 'MarkdownOption' })

export type MarkupOption = typeof MarkupOption.static
export const MarkupOption = t.Object(
  { ...common, FilePath: text('Path of the file; its ending chooses the renderer in mode `file`') },
  { $id: 'MarkupOption' },
)
