internal import Bytes
internal import CryptoPrimitives
internal import Identity
internal import WireGuard

/// One `key=value` line of the configuration protocol, and the forms of its values.
struct UAPIField {
    /// The longest line that is read; the longest valid one, an endpoint with a scope, has 71 bytes.
    static let lineByteLimit = 256
    private static let keyByteCount = 32

    let key: String
    private let value: ArraySlice<UInt8>

    /// Splits a line at its first equals sign.
    init(_ line: ArraySlice<UInt8>) throws(UAPIRefusal) {
        guard line.count <= Self.lineByteLimit, let sign = line.firstIndex(of: UInt8(ascii: "=")) else {
            throw .protocolViolation
        }
        key = String(decoding: line[..<sign], as: UTF8.self)
        value = line[(sign + 1)...]
    }

    /// The text of the value.
    private var text: String { String(decoding: value, as: UTF8.self) }

    /// 32 bytes as 64 hexadecimal digits; wipe them after use if the key is secret.
    ///
    /// The digits are read in place, so that no text with them remains in memory.
    private func keyBytes() throws(UAPIRefusal) -> [UInt8] {
        guard value.count == 2 * Self.keyByteCount else { throw .invalid }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.keyByteCount)
        for place in stride(from: value.startIndex, to: value.endIndex, by: 2) {
            guard let high = Hex.value(ofDigit: value[place]), let low = Hex.value(ofDigit: value[place + 1]) else {
                bytes.wipe()
                throw .invalid
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// A public key.
    func publicKey() throws(UAPIRefusal) -> X25519PublicKey {
        let bytes = try keyBytes()
        do throws(X25519Error) {
            return try X25519PublicKey(rawRepresentation: bytes)
        } catch {
            throw .invalid
        }
    }

    /// A private key; nil for 32 zero bytes, which mean none.
    func privateKey() throws(UAPIRefusal) -> X25519PrivateKey? {
        let secret = try secret()
        guard secret != PresharedKey.zero.secret else { return nil }
        do throws(X25519Error) {
            return try X25519PrivateKey(secret)
        } catch {
            throw .invalid
        }
    }

    /// A preshared key; 32 zero bytes mean none.
    func presharedKey() throws(UAPIRefusal) -> PresharedKey {
        let secret = try secret()
        do throws(X25519Error) {
            return try PresharedKey(secret)
        } catch {
            throw .invalid
        }
    }

    private func secret() throws(UAPIRefusal) -> SecretBytes {
        var bytes = try keyBytes()
        return SecretBytes(consuming: &bytes)
    }

    /// A decimal number without sign or leading zeros.
    func number<Number: FixedWidthInteger & UnsignedInteger>(
        _ type: Number.Type = Number.self
    ) throws(UAPIRefusal) -> Number {
        try Self.number(value, type)
    }

    private static func number<Number: FixedWidthInteger & UnsignedInteger>(
        _ digits: ArraySlice<UInt8>,
        _: Number.Type
    ) throws(UAPIRefusal) -> Number {
        let isCanonical = digits.count == 1 || digits.first != UInt8(ascii: "0")
        guard isCanonical, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Number(String(decoding: digits, as: UTF8.self))
        else { throw .invalid }
        return number
    }

    /// The error number of an answer, which may be negative.
    func errorNumber() throws(UAPIRefusal) -> Int32 {
        guard value.count <= 11, let number = Int32(text), number != .min else { throw .invalid }
        return number
    }

    /// Throws unless the value is `true`, the only one that a flag has.
    func requireTrue() throws(UAPIRefusal) {
        guard text == "true" else { throw .invalid }
    }

    /// Throws unless the value is 1, the only version of the protocol.
    func requireVersion() throws(UAPIRefusal) {
        guard text == "1" else { throw .invalid }
    }

    /// An address and port; names are not looked up.
    func endpoint() throws(UAPIRefusal) -> SocketAddress {
        guard let address = SocketAddress(text) else { throw .invalid }
        return address
    }

    /// An address prefix, with zero bits beyond its length.
    func prefix() throws(UAPIRefusal) -> AddressPrefix {
        guard let slash = value.lastIndex(of: UInt8(ascii: "/")),
            let address = IPAddress(String(decoding: value[..<slash], as: UTF8.self)), address.scope == 0,
            let prefix = AddressPrefix(address, length: Int(try Self.number(value[(slash + 1)...], UInt8.self)))
        else { throw .invalid }
        return prefix
    }
}
