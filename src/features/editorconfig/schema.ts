import { t } from 'elysia'

const text = () => t.Optional(t.String())

export type EditorConfigDefinition = typeof EditorConfigDefinition.static
export const EditorConfigDefinition = t.Object(
  {
    charset: text(),
    indent_style: text(),
    indent_size: t.Optional(t.String({ description: 'A number of columns, or `tab`' })),
    tab_width: t.Optional(t.Integer()),
    end_of_line: text(),
    trim_trailing_whitespace: t.Optional(t.Boolean()),
    insert_final_newline: t.Optional(t.Boolean()),
  },
  { $id: 'EditorConfigDefinition' },
)
