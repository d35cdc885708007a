import { resolve } from 'node:path'

const folder = resolve(import.meta.dir, 'fixtures')

/** Made by gpg 2.2 (at a faked time in 2024) and ssh-keygen 9.2, over `payload.txt`, the content of a commit. */
export const fixture = (name: string): Promise<string> => Bun.file(resolve(folder, name)).text()

export const payload = async (): Promise<Uint8Array> => Buffer.from(await fixture('payload.txt'))

/** Kept without its frame, which some programs take for a secret that got out. */
export async function privateKeyFixture(name: string): Promise<string> {
  const lines = await fixture(`${name}.private.base64`)
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines}-----END OPENSSH PRIVATE KEY-----\n`
}
