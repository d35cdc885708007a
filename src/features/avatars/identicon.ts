import { createHash } from 'node:crypto'

const CELLS = 5
const CELL_SIZE = 56
const MARGIN = 20

/** A picture drawn from a name: a symmetric pattern of five by five cells in a color of its own. */
export function drawIdenticon(name: string): string {
  const digest = createHash('sha256').update(name).digest()
  const hue = Math.round((digest.readUInt16BE(30) / 65_536) * 360)
  const cells: string[] = []
  for (let column = 0; column < Math.ceil(CELLS / 2); column += 1)
    for (let row = 0; row < CELLS; row += 1) {
      if (((digest[column * CELLS + row] ?? 0) & 1) === 0) continue
      for (const x of new Set([column, CELLS - 1 - column]))
        cells.push(`M${MARGIN + x * CELL_SIZE} ${MARGIN + row * CELL_SIZE}h${CELL_SIZE}v${CELL_SIZE}h-${CELL_SIZE}z`)
    }
  const size = CELLS * CELL_SIZE + 2 * MARGIN
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${size} ${size}"><rect width="${size}" height="${size}" fill="#f2f2f4"/><path fill="hsl(${hue} 55% 52%)" d="${cells.join('')}"/></svg>`
}
