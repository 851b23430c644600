package import Bytes

/// An IP address and a UDP port.
public struct SocketAddress: Hashable, Sendable {
    /// The address.
    public var ip: IPAddress
    /// The port.
    public var port: UInt16

    /// Puts an address and a port together.
    public init(_ ip: IPAddress, port: UInt16) {
        self.ip = ip
        self.port = port
    }

    /// Reads 4 or 16 bytes in network order; nil for any other number of them.
    public init?(bytes: some Collection<UInt8>, port: UInt16, scope: UInt32 = 0) {
        guard let ip = IPAddress(bytes: bytes, scope: scope) else { return nil }
        self.init(ip, port: port)
    }

    /// Reads `192.0.2.1:4433` or `[2001:db8::1]:4433`; a scope is a number, as in `[fe80::1%3]:4433`.
    public init(parsing text: String) throws(IdentityError) {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else {
            throw .invalidAddress(text, reason: "the port is missing; write address:port, as in 192.0.2.1:4433")
        }
        let digits = Array(text.utf8[text.utf8.index(after: colon)...])
        let host = text[..<colon]
        let isBracketed = host.utf8.first == UInt8(ascii: "[") && host.utf8.last == UInt8(ascii: "]")
        guard isBracketed || !host.utf8.contains(UInt8(ascii: ":")) else {
            throw .invalidAddress(text, reason: "put an IPv6 address in brackets, as in [2001:db8::1]:4433")
        }
        guard let port = IPAddress.decimal(digits[...], limit: UInt64(UInt16.max)) else {
            throw .invalidAddress(text, reason: "the port must be a number from 0 to 65535")
        }
        let inner = isBracketed ? String(host.dropFirst().dropLast()) : String(host)
        guard let ip = IPAddress(inner), ip.isIPv6 == isBracketed else {
            throw .invalidAddress(text, reason: "write the numbers of the address; names are not looked up here")
        }
        self.init(ip, port: UInt16(port))
    }

    /// The 4 or 16 bytes of the address in network order.
    public var bytes: [UInt8] { ip.bytes }

    /// The interface index of an IPv6 address with a zone; 0 without one.
    public var scope: UInt32 { ip.scope }

    /// Whether the address is an IPv6 one.
    public var isIPv6: Bool { ip.isIPv6 }

    /// Whether packets stay inside this machine.
    public var isLoopback: Bool { ip.isLoopback }

    /// Whether the address stands for none or for all.
    public var isUnspecified: Bool { ip.isUnspecified }

    /// Whether the address names a group.
    public var isMulticast: Bool { ip.isMulticast }

    /// Whether the address is good on one link only.
    public var isLinkLocal: Bool { ip.isLinkLocal }

    /// Whether the address is for use inside one site.
    public var isPrivate: Bool { ip.isPrivate }

    /// Whether a datagram may be sent there as to one peer: one machine, a port that is not 0, and no relay's channel.
    public var isDialable: Bool { ip.isUnicast && port != 0 && ChannelId(address: self) == nil }

    /// This socket address with an IPv4-mapped IPv6 address converted to IPv4.
    public var unmapped: SocketAddress { SocketAddress(ip.unmapped, port: port) }
}

extension SocketAddress: LosslessStringConvertible {
    /// Parses a text like ``init(parsing:)``; nil if that throws.
    public init?(_ description: String) {
        guard let address = try? SocketAddress(parsing: description) else { return nil }  // a failable form
        self = address
    }

    /// `192.0.2.1:4433` or `[2001:db8::1]:4433`.
    public var description: String { isIPv6 ? "[\(ip)]:\(port)" : "\(ip):\(port)" }
}

extension SocketAddress: Comparable {
    /// Orders by address, then by port.
    public static func < (left: SocketAddress, right: SocketAddress) -> Bool {
        left.ip == right.ip ? left.port < right.port : left.ip < right.ip
    }
}

extension SocketAddress: Codable {
    /// Reads the text form.
    public init(from decoder: any Decoder) throws {
        try self.init(parsing: decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension SocketAddress {
    /// Reads the wire form: 4 or 6, then 4 or 16 bytes of address, then the port.
    package init(reading reader: inout ByteReader) throws(BytesError) {
        let family = try reader.readUInt8()
        guard family == 4 || family == 6 else { throw .invalidValue("an address of family \(family)") }
        let bytes = try reader.readBytes(count: family == 4 ? 4 : 16)
        let port = try reader.readUInt16()
        guard let address = SocketAddress(bytes: bytes, port: port) else {
            throw .invalidLength(bytes.count)
        }
        self = address
    }

    /// Writes the wire form, 7 or 19 bytes; a scope stays behind, since it means nothing on another machine.
    package func write(to writer: inout ByteWriter) {
        writer.write(isIPv6 ? UInt8(6) : UInt8(4))
        writer.write(bytes)
        writer.write(port)
    }
}
