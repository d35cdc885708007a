import { expect, test } from 'bun:test'
import { utils } from 'ssh2'
import { readSshPrivateKey } from '../../src/signatures/ssh/private-key.ts'
import { makeHostKey } from '../../src/ssh/host-key.ts'

test('each of a thousand host keys can be read and signs what it should', () => {
  const data = Buffer.from('probe')
  const spoilt = Array.from({ length: 1000 }, makeHostKey).filter((secret) => {
    const key = utils.parseKey(secret)
    return (
      key instanceof Error || readSshPrivateKey(secret).blob.length !== 51 || key.verify(data, key.sign(data)) !== true
    )
  })
  expect(spoilt).toEqual([])
})
