import { type Packet, readPackets, Tag } from './packets.ts'
import { PacketFault } from './reader.ts'
import { readSignature, type Signature } from './signature.ts'

/** A key, a user id or a subkey, with the signatures that stand behind it. */
export interface Component {
  kind: 'key' | 'userId' | 'userAttribute' | 'subkey'
  packet: Packet
  signatures: Signature[]
}

/** The keys of well-known people have some thousands, nearly all of them signatures of others. */
const MAX_PACKETS = 5000
const MAX_COMPONENTS = 250
/** As gpg has it. It is hashed with every signature over it. */
const MAX_USER_ID_BYTES = 2048

const kinds = new Map<number, Component['kind']>([
  [Tag.publicKey, 'key'],
  [Tag.userId, 'userId'],
  [Tag.userAttribute, 'userAttribute'],
  [Tag.publicSubkey, 'subkey'],
])
const ignored: ReadonlySet<number> = new Set([Tag.marker, Tag.trust, Tag.padding])

/**
 * The parts of one public key, the key itself first (RFC 9580, 10.1). Signatures that cannot be read are left out.
 * @throws PacketFault for more than one key, and for anything else
 */
export function readComponents(bytes: Uint8Array): [Component, ...Component[]] {
  const [first, ...packets] = readPackets(bytes, MAX_PACKETS).filter(({ tag }) => !ignored.has(tag))
  if (first?.tag === Tag.secretKey) throw new PacketFault('is a private key, which nobody else may ever see')
  if (first?.tag !== Tag.publicKey) throw new PacketFault('does not begin with a public key')
  const key: Component = { kind: 'key', packet: first, signatures: [] }
  const components: [Component, ...Component[]] = [key]
  let last = key
  for (const packet of packets) {
    const kind = kinds.get(packet.tag)
    if (kind === 'key') throw new PacketFault('is more than one key')
    if (packet.tag === Tag.signature) last.signatures.push(...readable(packet))
    else if (kind === undefined) throw new PacketFault('has packets that belong to no public key')
    else {
      last = { kind, packet, signatures: [] }
      components.push(last)
    }
    if (kind === 'userId' && packet.body.length > MAX_USER_ID_BYTES)
      throw new PacketFault('has a user id that is too long')
    if (components.length > MAX_COMPONENTS) throw new PacketFault('has too many user ids or subkeys')
  }
  return components
}

function readable({ body }: Packet): Signature[] {
  try {
    return [readSignature(body)]
  } catch (error) {
    if (error instanceof PacketFault) return []
    throw error
  }
}

/** The address in a user id: `Name (comment) <address>`, or the address alone. Empty when there is none. */
export function addressOf({ packet }: Component): string {
  const text = Buffer.from(packet.body).toString()
  const open = text.lastIndexOf('<')
  const close = text.indexOf('>', open)
  return (open < 0 || close < 0 ? text : text.slice(open + 1, close)).trim()
}
