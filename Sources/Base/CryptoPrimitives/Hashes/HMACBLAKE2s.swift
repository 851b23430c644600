internal import Bytes

/// HMAC (RFC 2104) with BLAKE2s, as the Noise framework uses it; BLAKE2s under a key of its own is another function.
package enum HMACBLAKE2s {
    /// The size of a code in bytes.
    package static let byteCount = BLAKE2s.maximumByteCount

    /// Returns the 32 bytes of the code; keys of more than 64 bytes are hashed first.
    package static func authenticationCode(for message: some Collection<UInt8>, key: some Collection<UInt8>) -> [UInt8]
    {
        var pad = key.count > BLAKE2s.blockByteCount ? BLAKE2s.hash(key) : Array(key)
        pad.reserveCapacity(BLAKE2s.blockByteCount)
        pad.append(contentsOf: repeatElement(0, count: BLAKE2s.blockByteCount - pad.count))
        defer { pad.wipe() }
        var inner = BLAKE2s()
        exclusiveOr(&pad, 0x36)
        inner.update(pad)
        inner.update(message)
        var outer = BLAKE2s()
        exclusiveOr(&pad, 0x36 ^ 0x5C)
        outer.update(pad)
        outer.update(inner.finalize())
        return outer.finalize()
    }

    private static func exclusiveOr(_ bytes: inout [UInt8], _ mask: UInt8) {
        for index in bytes.indices { bytes[index] ^= mask }
    }
}
