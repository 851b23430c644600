internal import Bytes
internal import Identity

/// The numbers of attributes (RFC 8489, section 18.3; RFC 5780, section 9.1).
enum STUNAttributeType {
    static let mappedAddress: UInt16 = 0x0001
    static let changeRequest: UInt16 = 0x0003
    static let username: UInt16 = 0x0006
    static let integrity: UInt16 = 0x0008
    static let errorCode: UInt16 = 0x0009
    static let unknownAttributes: UInt16 = 0x000A
    static let integritySHA256: UInt16 = 0x001C
    static let xorMappedAddress: UInt16 = 0x0020
    static let software: UInt16 = 0x8022
    static let fingerprint: UInt16 = 0x8028
    static let responseOrigin: UInt16 = 0x802B
    static let otherAddress: UInt16 = 0x802C
}

extension STUNAttribute {
    /// The most bytes of a name (RFC 8489, section 14.3).
    static let usernameByteLimit = 508
    /// The most bytes of text for people (sections 14.8 and 14.14).
    static let textByteLimit = 763

    /// Reads the value of an attribute.
    init(
        type: UInt16,
        value: ArraySlice<UInt8>,
        transaction: STUNTransactionId
    ) throws(BytesError) {
        var reader = ByteReader(value)
        switch type {
        case STUNAttributeType.mappedAddress: self = .mappedAddress(try Self.address(from: &reader))
        case STUNAttributeType.responseOrigin: self = .responseOrigin(try Self.address(from: &reader))
        case STUNAttributeType.otherAddress: self = .otherAddress(try Self.address(from: &reader))
        case STUNAttributeType.xorMappedAddress:
            self = .xorMappedAddress(try Self.address(from: &reader).masked(by: transaction))
        case STUNAttributeType.username:
            self = .username(try reader.readText(limit: Self.usernameByteLimit))
        case STUNAttributeType.software:
            self = .software(String(decoding: try reader.readText(limit: Self.textByteLimit), as: UTF8.self))
        case STUNAttributeType.errorCode: self = .errorCode(try Self.errorCode(from: &reader))
        case STUNAttributeType.unknownAttributes:
            var types: [UInt16] = []
            while !reader.isAtEnd { types.append(try reader.readUInt16()) }
            self = .unknownAttributes(types)
        case STUNAttributeType.changeRequest:
            let flags = STUNChange(rawValue: try reader.readUInt32())
            self = .changeRequest(flags.intersection([.address, .port]))
        default: self = .other(type: type, reader.readRemaining())
        }
        try reader.finish()
    }

    private static func address(from reader: inout ByteReader) throws(BytesError) -> SocketAddress {
        _ = try reader.readUInt8()
        let family = try reader.readUInt8()
        guard family == 1 || family == 2 else { throw .invalidValue("an address of family \(family)") }
        let port = try reader.readUInt16()
        let bytes = try reader.readSlice(count: family == 1 ? 4 : 16)
        guard let address = SocketAddress(bytes: bytes, port: port) else { throw .invalidLength(bytes.count) }
        return address
    }

    private static func errorCode(from reader: inout ByteReader) throws(BytesError) -> STUNErrorCode {
        _ = try reader.readUInt16()
        let hundreds = UInt16(try reader.readUInt8() & 0x7)
        let rest = UInt16(try reader.readUInt8())
        let reason = String(decoding: try reader.readText(limit: Self.textByteLimit), as: UTF8.self)
        guard rest < 100, let code = STUNErrorCode(code: hundreds * 100 + rest, reason: reason) else {
            throw .invalidValue("an error of class \(hundreds), number \(rest)")
        }
        return code
    }

    /// Writes type, length, value and padding.
    func write(to writer: inout ByteWriter, transaction: STUNTransactionId) {
        var value = ByteWriter(capacity: 32)
        let type: UInt16
        switch self {
        case .mappedAddress(let address): type = Self.write(address, as: STUNAttributeType.mappedAddress, to: &value)
        case .responseOrigin(let address): type = Self.write(address, as: STUNAttributeType.responseOrigin, to: &value)
        case .otherAddress(let address): type = Self.write(address, as: STUNAttributeType.otherAddress, to: &value)
        case .xorMappedAddress(let address):
            type = Self.write(address.masked(by: transaction), as: STUNAttributeType.xorMappedAddress, to: &value)
        case .username(let name):
            type = STUNAttributeType.username
            value.write(name)
        case .software(let text):
            type = STUNAttributeType.software
            value.write(utf8: text)
        case .errorCode(let error):
            type = STUNAttributeType.errorCode
            value.write(UInt16(0))
            value.write(UInt8(error.code / 100))
            value.write(UInt8(error.code % 100))
            value.write(utf8: error.reason)
        case .unknownAttributes(let types):
            type = STUNAttributeType.unknownAttributes
            for unknown in types { value.write(unknown) }
        case .changeRequest(let change):
            type = STUNAttributeType.changeRequest
            value.write(change.rawValue)
        case .other(let number, let bytes):
            type = number
            value.write(bytes)
        }
        writer.writeAttribute(type, value.bytes)
    }

    private static func write(_ address: SocketAddress, as type: UInt16, to value: inout ByteWriter) -> UInt16 {
        value.write(UInt16(address.isIPv6 ? 2 : 1))
        value.write(address.port)
        value.write(address.bytes)
        return type
    }
}

extension SocketAddress {
    /// The address XORed with the cookie and, for IPv6, the transaction (RFC 8489, section 14.2); twice gives it back.
    func masked(by transaction: STUNTransactionId) -> SocketAddress {
        let mask = STUNPacket.cookieBytes + transaction.bytes
        let bytes = zip(self.bytes, mask).map { $0 ^ $1 }
        let port = self.port ^ UInt16(mask[0]) << 8 ^ UInt16(mask[1])
        return SocketAddress(bytes: bytes, port: port) ?? self
    }
}

extension ByteWriter {
    /// Writes an attribute, padded with zeros to a multiple of four bytes.
    mutating func writeAttribute(_ type: UInt16, _ value: [UInt8]) {
        write(type)
        write(UInt16(value.count))
        write(value)
        write([UInt8](repeating: 0, count: -value.count & 3))
    }
}

extension ByteReader {
    /// Reads everything that is left, which must not be more than `limit` bytes.
    fileprivate mutating func readText(limit: Int) throws(BytesError) -> [UInt8] {
        guard remaining <= limit else { throw .tooLong(limit: limit, found: remaining) }
        return readRemaining()
    }
}
