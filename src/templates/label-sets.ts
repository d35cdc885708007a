import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { parse } from 'yaml'

export interface LabelTemplate {
  name: string
  /** Six hexadecimal digits in lower case. */
  color: string
  description: string
  exclusive: boolean
}

const label = (name: string, color: string, description: string): LabelTemplate => ({
  name,
  color,
  description,
  exclusive: false,
})
const oneOf = (name: string, color: string, description: string): LabelTemplate => ({
  ...label(name, color, description),
  exclusive: true,
})

/** Wire: names, colours, texts and order are Gitea's: clients offer them by name. */
export const LABEL_SETS: Readonly<Record<string, readonly LabelTemplate[]>> = {
  Advanced: [
    label('Kind/Bug', 'ee0701', 'Something is not working'),
    label('Kind/Feature', '0288d1', 'New functionality'),
    label('Kind/Enhancement', '84b6eb', 'Improve existing functionality'),
    label('Kind/Security', '9c27b0', 'This is security issue'),
    label('Kind/Testing', '795548', 'Issue or pull request related to testing'),
    label('Kind/Documentation', '37474f', 'Documentation changes'),
    label('Compat/Breaking', 'c62828', "Breaking change that won't be backward compatible"),
    oneOf('Reviewed/Duplicate', '616161', 'This issue or pull request already exists'),
    oneOf('Reviewed/Invalid', '546e7a', 'Invalid issue'),
    oneOf('Reviewed/Confirmed', '795548', 'Issue has been confirmed'),
    oneOf("Reviewed/Won't Fix", 'eeeeee', "This issue won't be fixed"),
    oneOf('Status/Need More Info', '424242', 'Feedback is required to reproduce issue or to continue work'),
    oneOf('Status/Blocked', '880e4f', 'Something is blocking this issue or pull request'),
    oneOf('Status/Abandoned', '222222', 'Somebody has started to work on this but abandoned work'),
    oneOf('Priority/Critical', 'b71c1c', 'The priority is critical'),
    oneOf('Priority/High', 'd32f2f', 'The priority is high'),
    oneOf('Priority/Medium', 'e64a19', 'The priority is medium'),
    oneOf('Priority/Low', '4caf50', 'The priority is low'),
  ],
  Default: [
    label('bug', 'ee0701', 'Something is not working'),
    label('duplicate', 'cccccc', 'This issue or pull request already exists'),
    label('enhancement', '84b6eb', 'New feature'),
    label('help wanted', '128a0c', 'Need some help'),
    label('invalid', 'e6e6e6', 'Something is wrong'),
    label('question', 'cc317c', 'More information is needed'),
    label('wontfix', 'ffffff', "This won't be fixed"),
  ],
}

const LabelFile = Type.Object({
  labels: Type.Array(
    Type.Object({
      name: Type.String({ minLength: 1, maxLength: 50 }),
      color: Type.String(),
      description: Type.Optional(Type.String()),
      exclusive: Type.Optional(Type.Boolean()),
    }),
  ),
})

/**
 * Reads an operator's label file: YAML with a list `labels` of name, color, description and exclusive, or Gitea's
 * older text form with one `#rrggbb name ; description` a line. Undefined when it is neither.
 */
export function parseLabelSet(text: string, ending: string): LabelTemplate[] | undefined {
  const labels = ending === '' ? parseLines(text) : parseYaml(text)
  const read = labels?.map(({ name, color, description, exclusive }) => {
    const hex = /^#?([0-9a-f]{6})$/i.exec(color.trim())?.[1]
    return hex
      ? { name, color: hex.toLowerCase(), description: description ?? '', exclusive: exclusive ?? false }
      : undefined
  })
  return read?.every((each) => each !== undefined) ? read : undefined
}

function parseYaml(text: string) {
  try {
    const file: unknown = parse(text)
    return Value.Check(LabelFile, file) ? file.labels : undefined
  } catch {
    // A broken file counts as absent; the operator sees that the set is not listed.
    return undefined
  }
}

function parseLines(text: string) {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, color = '', name = '', description = ''] = /^\s*(\S+)\s+([^;]+?)\s*(?:;\s*(.*?)\s*)?$/.exec(line) ?? []
      return { name, color, description, exclusive: false }
    })
}
