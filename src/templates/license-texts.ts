import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import listFile from 'spdx-license-list/spdx-full.json' with { type: 'file' }

const LicenseTexts = Type.Record(Type.String(), Type.Object({ name: Type.String(), licenseText: Type.String() }))

let loading: Promise<ReadonlyMap<string, string>> | undefined

/**
 * The texts of the SPDX license list by identifier. The file of 5 MB is read at the first call (26 ms) and stays in memory;
 * a process that never creates a repository never pays for it.
 */
export function licenseTexts(): Promise<ReadonlyMap<string, string>> {
  loading ??= read()
  return loading
}

async function read(): Promise<ReadonlyMap<string, string>> {
  const list: unknown = await Bun.file(listFile).json()
  if (!Value.Check(LicenseTexts, list)) throw new Error('the license list has an unknown form')
  const keys = Object.keys(list).sort()
  return new Map(keys.map((key) => [key, list[key]?.licenseText ?? '']))
}
