import { expect, test } from 'bun:test'
import { HostRuleError, readHostPolicy } from '../../src/kernel/host-policy.ts'

const OUTSIDE = ['93.184.216.34', '1.1.1.1', '2606:4700::1111']
const LOOPBACK = ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1']
const LOCAL = ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12::1', '::ffff:10.0.0.1']
/** Reached by no word but `*` or their own network. */
const SPECIAL = [
  ...['0.0.0.0', '0.1.2.3', '100.64.0.1', '169.254.169.254', '192.0.0.8', '192.0.2.1', '198.18.0.1', '203.0.113.7'],
  ...['224.0.0.1', '240.0.0.1', '255.255.255.255', '::', 'fe80::1', 'ff02::1', '64:ff9b::7f00:1', '2002:7f00:1::'],
  ...['2001:0:1::', '2001:db8::1', '::ffff:169.254.169.254', 'fec0::1', '100::1', '::7f00:1', '::a9fe:a9fe', '5f00::1'],
]

test.each([
  ['external', OUTSIDE, [...LOOPBACK, ...LOCAL, ...SPECIAL]],
  ['loopback', LOOPBACK, [...OUTSIDE, ...LOCAL, ...SPECIAL]],
  ['private', [...LOOPBACK, ...LOCAL], [...OUTSIDE, ...SPECIAL]],
  ['*', [...OUTSIDE, ...LOOPBACK, ...LOCAL, ...SPECIAL], []],
  ['10.0.0.0/8', ['10.0.0.1', '::ffff:10.0.0.1'], [...OUTSIDE, ...LOOPBACK, '192.168.1.1']],
  ['fd12::/16', ['fd12::1'], ['fd13::1', '10.0.0.1']],
  ['192.168.1.1', ['192.168.1.1', '::ffff:192.168.1.1'], ['192.168.1.2']],
])('%s reaches its addresses and no others', (word, inside, outside) => {
  const policy = readHostPolicy([word])
  expect(inside.filter((address) => !policy.allows('host.example', address))).toEqual([])
  expect(outside.filter((address) => policy.allows('host.example', address))).toEqual([])
})

test('a name is allowed wherever it leads, in any case and with a dot at its end', () => {
  const policy = readHostPolicy(['ci.example', '*.inner.example'])
  for (const name of ['ci.example', 'CI.example.', 'a.inner.example', 'a.b.inner.example'])
    expect([name, policy.allows(name, '10.0.0.1')]).toEqual([name, true])
  for (const name of ['xci.example', 'ci.example.evil', 'inner.example'])
    expect([name, policy.allows(name, '10.0.0.1')]).toEqual([name, false])
})

test('an empty list reaches nothing, and what is no address is never reached', () => {
  expect(readHostPolicy([]).allows('host.example', '1.1.1.1')).toBe(false)
  for (const address of ['', 'host.example', '1.1.1', '0x7f.1', '127.1'])
    expect([address, readHostPolicy(['external']).allows('host.example', address)]).toEqual([address, false])
})

test.each(['http://x', 'a/b', 'a b', ''])('%p is told as a word that means nothing', (word) => {
  expect(() => readHostPolicy([word])).toThrow(HostRuleError)
})
