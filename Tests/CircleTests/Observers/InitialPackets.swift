internal import Crypto
internal import CryptoExtras
internal import Foundation

/// The Initial packets of a capture, whose keys every observer can derive (RFC 9001, section 5.2).
///
/// The keys of both directions follow from the first connection ID that the client chose.
struct InitialPackets {
    /// The salt of QUIC version 1.
    private static let salt: [UInt8] = [
        0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad, 0xcc, 0xbb,
        0x7f, 0x0a,
    ]

    private struct Keys {
        let packet: SymmetricKey
        let nonce: [UInt8]
        let header: SymmetricKey
    }

    /// A packet with its protection.
    private struct Packet {
        /// From its first byte to its last one.
        let bytes: [UInt8]
        let destination: [UInt8]
        /// The place of the packet number.
        let number: Int
    }

    private var keys: [Keys] = []
    private var known: Set<[UInt8]> = []
    /// The frames of the packets that opened, one packet after the other.
    private(set) var plaintext: [UInt8] = []

    /// Opens the Initial packets among datagrams in the order in which they left.
    init(in datagrams: [[UInt8]]) throws {
        for datagram in datagrams {
            var rest = datagram[...]
            while let packet = Self.nextPacket(of: &rest) {
                if known.insert(packet.destination).inserted {
                    keys += ["client in", "server in"].map { Self.keys(of: packet.destination, $0) }
                }
                for candidate in keys {
                    guard let frames = try Self.open(packet, with: candidate) else { continue }
                    plaintext += frames
                    break
                }
            }
        }
    }

    // MARK: Keys

    private static func keys(of connectionId: [UInt8], _ side: String) -> Keys {
        let initial = code(of: connectionId, under: salt)
        let secret = expanded(initial, side, count: 32)
        return Keys(
            packet: SymmetricKey(data: expanded(secret, "quic key", count: 16)),
            nonce: expanded(secret, "quic iv", count: 12),
            header: SymmetricKey(data: expanded(secret, "quic hp", count: 16))
        )
    }

    /// HKDF-Expand-Label (RFC 8446, section 7.1) for at most one block.
    private static func expanded(_ secret: [UInt8], _ label: String, count: Int) -> [UInt8] {
        let label = Array("tls13 \(label)".utf8)
        let info = [0, UInt8(count), UInt8(label.count)] + label + [0, 1]
        return Array(code(of: info, under: secret).prefix(count))
    }

    private static func code(of bytes: [UInt8], under key: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
    }

    // MARK: Packets

    /// Removes and returns the next Initial packet of a datagram; nil if another packet follows.
    private static func nextPacket(of rest: inout ArraySlice<UInt8>) -> Packet? {
        let bytes = Array(rest)
        // A long header of version 1 whose type is Initial.
        guard bytes.count > 6, bytes[0] & 0xF0 == 0xC0, bytes[1...4] == [0, 0, 0, 1] else { return nil }
        var reader = Reader(bytes: bytes, place: 5)
        guard let destination = reader.connectionId(), reader.connectionId() != nil,
            let tokenCount = reader.number(), reader.take(tokenCount) != nil,
            let count = reader.number(), count >= 20, reader.place + count <= bytes.count
        else { return nil }
        let end = reader.place + count
        rest = rest.dropFirst(end)
        return Packet(bytes: Array(bytes[..<end]), destination: destination, number: reader.place)
    }

    /// Reads the fields of a long header; nil at the end of the bytes.
    private struct Reader {
        let bytes: [UInt8]
        var place: Int

        mutating func take(_ count: Int) -> [UInt8]? {
            guard place + count <= bytes.count else { return nil }
            defer { place += count }
            return Array(bytes[place..<(place + count)])
        }

        mutating func connectionId() -> [UInt8]? {
            guard let count = take(1) else { return nil }
            return take(Int(count[0]))
        }

        /// Reads a variable-length integer (RFC 9000, section 16).
        mutating func number() -> Int? {
            guard place < bytes.count else { return nil }
            let count = 1 << Int(bytes[place] >> 6)
            guard let digits = take(count) else { return nil }
            return digits.reduce(0) { $0 << 8 | Int($1) } & ((1 << (8 * count - 2)) - 1)
        }
    }

    /// Removes the protection of a packet; nil if the keys are those of another connection.
    private static func open(_ packet: Packet, with keys: Keys) throws -> [UInt8]? {
        var bytes = packet.bytes
        let sample = bytes[(packet.number + 4)..<(packet.number + 20)]
        // The first block of CBC with zeros before it is the block cipher alone.
        let zeros = try AES._CBC.IV(ivBytes: [UInt8](repeating: 0, count: 16))
        let mask = [UInt8](try AES._CBC.encrypt(Array(sample), using: keys.header, iv: zeros))
        bytes[0] ^= mask[0] & 0x0F
        let numberCount = Int(bytes[0] & 0x03) + 1
        let body = packet.number + numberCount
        var nonce = keys.nonce
        for index in 0..<numberCount {
            bytes[packet.number + index] ^= mask[1 + index]
            nonce[nonce.count - numberCount + index] ^= bytes[packet.number + index]
        }
        let box = try AES.GCM.SealedBox(
            nonce: AES.GCM.Nonce(data: nonce),
            ciphertext: bytes[body..<(bytes.count - 16)],
            tag: bytes[(bytes.count - 16)...]
        )
        let frames = try? AES.GCM.open(box, using: keys.packet, authenticating: bytes[..<body])  // nil: see above
        return frames.map { [UInt8]($0) }
    }
}
