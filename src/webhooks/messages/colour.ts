/** Colours that Gitea's receivers know, as RGB in hexadecimal digits. */
export const colour = {
  green: '1ac600',
  yellow: 'ffd930',
  red: 'ff3232',
  orange: 'eb6420',
  lightOrange: 'e68d60',
  lightGreen: 'bfe5bf',
  purple: '7289da',
  grey: '4f545c',
} as const

export type Colour = (typeof colour)[keyof typeof colour]

/** Of a commit status or the end of a workflow. */
export function colourOfState(state: string): Colour {
  if (state === 'success') return colour.green
  if (state === 'failure' || state === 'error') return colour.red
  return colour.yellow
}
