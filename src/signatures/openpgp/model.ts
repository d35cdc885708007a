export interface CertifiedKey {
  /** 16 hexadecimal digits in capitals. */
  keyId: string
  /** 40 or 64. */
  fingerprint: string
  /** The packet of the key itself. */
  packet: Uint8Array
  madeAt: Date
  /** null: never. */
  expiresAt: Date | null
  canSign: boolean
  canCertify: boolean
  canEncryptComms: boolean
  canEncryptStorage: boolean
}

/** A key with what its owner has signed of it. */
export interface Certificate {
  primary: CertifiedKey
  subkeys: CertifiedKey[]
  /** Addresses of the user ids, as they are written there, each once. */
  emails: string[]
  /** All packets that are believed. */
  bytes: Uint8Array
}

export interface SignedContent {
  certificate: Uint8Array
  armored: string
  contents: readonly Uint8Array[]
  now: Date
}

export interface SignedVerdict {
  isSigned: boolean
  /** Whether it will be the same at any later time. */
  isFinal: boolean
}
