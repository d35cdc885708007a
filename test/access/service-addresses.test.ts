import { expect, test } from 'bun:test'
import { isServiceAddress, isSigningAddress } from '../../src/access/service-addresses.ts'

const settings = { noreplyDomain: 'Noreply.Bücher.example', signingEmail: 'Forge@sign.example' }

test.each([
  ['7+alice@noreply.bücher.example', true],
  ['alice@NOREPLY.BÜCHER.EXAMPLE', true],
  ['alice@noreply.xn--bcher-kva.example', true],
  ['alice@noreply.xn--bcher-kva.example.', true],
  ['anything at all@noreply.bücher.example', true],
  ['alice@elsewhere@noreply.bücher.example', true],
  ['forge@SIGN.example.', true],
  ['alice@sign.example', false],
  ['alice@bücher.example', false],
  ['alice@noreply.bücher.example.org', false],
  ['noreply.bücher.example', true],
  ['', false],
])('whether %s belongs to the service: %p', (address, isService) => {
  expect(isServiceAddress(address, settings)).toBe(isService)
})

test('the service signs as hearth in the no-reply domain unless it is told otherwise', () => {
  const bare = { noreplyDomain: 'noreply.localhost', signingEmail: undefined }
  expect(isSigningAddress('HEARTH@noreply.localhost', bare)).toBe(true)
  expect(isSigningAddress('alice@noreply.localhost', bare)).toBe(false)
  expect(isSigningAddress('hearth@noreply.localhost', settings)).toBe(false)
})
