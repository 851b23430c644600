internal import Bytes

/// An IPv4 or IPv6 address without a port.
public enum IPAddress: Hashable, Sendable {
    /// Four bytes, the first one most significant.
    case v4(UInt32)
    /// Sixteen bytes in two words, and the number of the interface that a link-local address is meant on (else 0).
    case v6(high: UInt64, low: UInt64, scope: UInt32)

    /// Reads 4 or 16 bytes in network order; nil for any other number of them.
    ///
    /// A scope is kept for IPv6 only.
    public init?(bytes: some Collection<UInt8>, scope: UInt32 = 0) {
        switch bytes.count {
        case 4:
            self = .v4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
        case 16:
            let high = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let low = bytes.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            self = .v6(high: high, low: low, scope: scope)
        default:
            return nil
        }
    }

    /// The 4 or 16 bytes in network order.
    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 16)
        switch self {
        case .v4(let word):
            writer.write(word)
        case .v6(let high, let low, _):
            writer.write(high)
            writer.write(low)
        }
        return writer.bytes
    }

    /// The interface index of an IPv6 address with a zone; 0 without one.
    public var scope: UInt32 {
        if case .v6(_, _, let scope) = self { scope } else { 0 }
    }

    /// Whether this is an IPv6 address.
    public var isIPv6: Bool {
        if case .v6 = self { true } else { false }
    }

    /// The IPv4 address inside `::ffff:a.b.c.d`; any other address unchanged.
    public var unmapped: IPAddress {
        guard case .v6(0, let low, _) = self, low >> 32 == 0xFFFF else { return self }
        return .v4(UInt32(truncatingIfNeeded: low))
    }

    /// This address without an interface number, which is meaningless on other machines.
    public var withoutScope: IPAddress {
        guard case .v6(let high, let low, _) = self else { return self }
        return .v6(high: high, low: low, scope: 0)
    }
}

extension IPAddress {
    /// Whether packets stay inside this machine (127.0.0.0/8, ::1).
    public var isLoopback: Bool {
        switch unmapped {
        case .v4(let word): word >> 24 == 127
        case .v6(let high, let low, _): high == 0 && low == 1
        }
    }

    /// Whether this is the address that stands for none or for all (0.0.0.0, ::).
    public var isUnspecified: Bool {
        switch unmapped {
        case .v4(let word): word == 0
        case .v6(let high, let low, _): high == 0 && low == 0
        }
    }

    /// Whether this names a group (224.0.0.0/4, ff00::/8).
    public var isMulticast: Bool {
        switch unmapped {
        case .v4(let word): word >> 28 == 0xE
        case .v6(let high, _, _): high >> 56 == 0xFF
        }
    }

    /// Whether the address is good on one link only (169.254.0.0/16, fe80::/10).
    public var isLinkLocal: Bool {
        switch unmapped {
        case .v4(let word): word >> 16 == 0xA9FE
        case .v6(let high, _, _): high >> 54 == 0xFE80 >> 6
        }
    }

    /// Whether the address is for use inside one site (RFC 1918, RFC 6598's shared space, fc00::/7).
    public var isPrivate: Bool {
        switch unmapped {
        case .v4(let word):
            word >> 24 == 10 || word >> 20 == 0xAC1 || word >> 16 == 0xC0A8 || word >> 22 == 0x6440 >> 6
        case .v6(let high, _, _): high >> 57 == 0xFC >> 1
        }
    }

    /// Whether a packet may be sent to it as to one machine: not unspecified, not a group, not broadcast.
    public var isUnicast: Bool { !isUnspecified && !isMulticast && unmapped != .v4(.max) }
}

extension IPAddress: Comparable {
    /// Orders IPv4 before IPv6, then by bytes, then by scope.
    public static func < (left: IPAddress, right: IPAddress) -> Bool { left.order < right.order }

    private var order: (Int, UInt64, UInt64, UInt32) {
        switch self {
        case .v4(let word): (4, 0, UInt64(word), 0)
        case .v6(let high, let low, let scope): (6, high, low, scope)
        }
    }
}
