import { crc32 } from 'node:zlib'

export const MAX_AVATAR_BYTES = 1_048_576
/** On each side: a small file may unpack to a picture that no browser can hold. */
const MAX_PIXELS = 4096

export interface CheckedImage {
  mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  width: number
  height: number
}

/**
 * Reads what a picture is from its own bytes, whatever it was called; undefined for anything that is not one whole picture of a
 * kind that browsers show as a picture only. SVG is none: it can hold scripts.
 */
export function checkImage(bytes: Uint8Array): CheckedImage | undefined {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const image = readPng(data) ?? readJpeg(data) ?? readGif(data) ?? readWebp(data)
  const isSane = image && image.width > 0 && image.height > 0 && image.width <= MAX_PIXELS && image.height <= MAX_PIXELS
  return isSane ? image : undefined
}

/** PNG (ISO 15948): every chunk with its checksum, from IHDR to IEND, and nothing after. */
function readPng(data: Buffer): CheckedImage | undefined {
  if (data.subarray(0, 8).toString('latin1') !== '\x89PNG\r\n\x1a\n') return undefined
  let size: { width: number; height: number } | undefined
  let hasPixels = false
  for (let at = 8; at + 12 <= data.length; ) {
    const length = data.readUInt32BE(at)
    const end = at + 12 + length
    if (end > data.length || data.readUInt32BE(end - 4) !== crc32(data.subarray(at + 4, end - 4))) return undefined
    const type = data.toString('latin1', at + 4, at + 8)
    if (size === undefined) {
      if (type !== 'IHDR' || length !== 13) return undefined
      size = { width: data.readUInt32BE(at + 8), height: data.readUInt32BE(at + 12) }
    }
    if (type === 'IDAT') hasPixels = true
    if (type === 'IEND') return end === data.length && hasPixels ? { mediaType: 'image/png', ...size } : undefined
    at = end
  }
  return undefined
}

/** JPEG (ITU T.81): the segments up to the frame header that holds the size, and the end marker. */
function readJpeg(data: Buffer): CheckedImage | undefined {
  if (data.length < 4 || data.readUInt16BE(0) !== 0xffd8 || data.readUInt16BE(data.length - 2) !== 0xffd9)
    return undefined
  for (let at = 2; at + 9 < data.length; ) {
    if (data[at] !== 0xff) return undefined
    const marker = data[at + 1] ?? 0
    if (marker === 0xff) {
      at += 1
      continue
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { mediaType: 'image/jpeg', height: data.readUInt16BE(at + 5), width: data.readUInt16BE(at + 7) }
    const length = data.readUInt16BE(at + 2)
    if (length < 2 || marker === 0xda || marker === 0xd9) return undefined
    at += 2 + length
  }
  return undefined
}

/** GIF89a: the screen and the trailer. */
function readGif(data: Buffer): CheckedImage | undefined {
  if (!/^GIF8[79]a$/.test(data.toString('latin1', 0, 6)) || data.length < 14 || data.at(-1) !== 0x3b) return undefined
  return { mediaType: 'image/gif', width: data.readUInt16LE(6), height: data.readUInt16LE(8) }
}

/** WebP (RFC 9649): the RIFF container with one of the three first chunks. */
function readWebp(data: Buffer): CheckedImage | undefined {
  if (data.length < 30 || data.toString('latin1', 0, 4) !== 'RIFF' || data.toString('latin1', 8, 12) !== 'WEBP')
    return undefined
  if (data.readUInt32LE(4) + 8 !== data.length) return undefined
  const mediaType = 'image/webp'
  switch (data.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { mediaType, width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1 }
    case 'VP8L': {
      const bits = data.readUInt32LE(21)
      return data[20] === 0x2f
        ? { mediaType, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
        : undefined
    }
    case 'VP8 ':
      return data.readUIntBE(23, 3) === 0x9d012a
        ? { mediaType, width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff }
        : undefined
    default:
      return undefined
  }
}
