import { Refusal } from '../kernel/errors.ts'

/** Between a name and its value, and at the end of a line. */
const BETWEEN = ': \r\n'.length

/** Of the request line and the fields, as they came or nearly so. */
export function headBytes({ method, url, headers }: Request): number {
  let bytes = method.length + url.length
  headers.forEach((value, name) => {
    bytes += name.length + value.length + BETWEEN
  })
  return bytes
}

/** RFC 6585, 5. */
export const headTooLarge = (maxBytes: number): Refusal =>
  new Refusal(431, `the head of the request is larger than ${maxBytes} bytes`)
