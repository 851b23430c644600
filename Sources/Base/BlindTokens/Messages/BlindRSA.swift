/// The constants of token type 0x0002 (RFC 9578, section 6): RSABSSA-SHA384-PSS-Deterministic with 2048 bits.
enum BlindRSA {
    /// The token type.
    static let tokenType: UInt16 = 0x0002
    /// The length in bits of the modulus.
    static let modulusBitCount = 2_048
    /// The length in bytes of the modulus, a blinded message and a signature: `Nk` of the RFC.
    static let modulusByteCount = 256
    /// The length in bytes of a nonce, a challenge digest and a key id.
    static let digestByteCount = 32
}
