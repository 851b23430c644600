/// Which encodings of Ed25519 points and signatures are accepted, decided here so that every system decides alike.
///
/// Points: RFC 8032, section 5.1.3, read strictly: the y coordinate must be below p, and the eight points of small
/// order are refused, because a signature under such a key proves nothing. Signatures: S must be below the group order
/// L (section 5.1.7), so that a valid signature cannot be turned into another one, and R must be canonical.
enum Ed25519Encoding {
    static let publicKeyByteCount = 32
    static let signatureByteCount = 64

    /// The field's prime p = 2^255 - 19, little-endian.
    private static let prime: [UInt8] = [0xED] + Array(repeating: 0xFF, count: 30) + [0x7F]

    /// The group order L = 2^252 + 27742317777372353535851937790883648493, little-endian.
    private static let groupOrder: [UInt8] =
        [
            0xED, 0xD3, 0xF5, 0x5C, 0x1A, 0x63, 0x12, 0x58, 0xD6, 0x9C, 0xF7, 0xA2, 0xDE, 0xF9, 0xDE, 0x14,
        ] + Array(repeating: 0, count: 15) + [0x10]

    /// The y coordinates of the points whose order divides 8, little-endian; the sign of x does not matter.
    private static let smallOrder: [[UInt8]] = [
        Array(repeating: 0, count: 32),
        [1] + Array(repeating: 0, count: 31),
        [0xEC] + Array(repeating: 0xFF, count: 30) + [0x7F],
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0,
            0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F,
            0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],
    ]

    /// Checks the 32 bytes of a public key.
    static func checkPublicKey(_ bytes: [UInt8]) throws(IdentityError) {
        guard bytes.count == publicKeyByteCount else {
            throw .wrongLength(of: "a public key", expected: publicKeyByteCount, found: bytes.count)
        }
        let y = withoutSign(bytes)
        guard isBelow(y, prime) else { throw .invalidPublicKey(reason: "its encoding is not canonical") }
        guard !smallOrder.contains(y) else { throw .invalidPublicKey(reason: "it is a point of small order") }
    }

    /// Whether the 64 bytes of a signature are in the only form that is accepted.
    static func isCanonicalSignature(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == signatureByteCount else { return false }
        return isBelow(withoutSign(Array(bytes[..<32])), prime) && isBelow(Array(bytes[32...]), groupOrder)
    }

    private static func withoutSign(_ bytes: [UInt8]) -> [UInt8] {
        var y = bytes
        y[31] &= 0x7F
        return y
    }

    /// Compares two little-endian numbers of 32 bytes.
    ///
    /// Public values only: the time depends on them.
    private static func isBelow(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        for index in stride(from: 31, through: 0, by: -1) where left[index] != right[index] {
            return left[index] < right[index]
        }
        return false
    }
}
