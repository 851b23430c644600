internal import Identity

/// A block of addresses that one party can easily own: a /24 of IPv4, a /48 of IPv6.
struct AddressGroup: Hashable, Sendable {
    private let isIPv6: Bool
    private let prefix: UInt64

    init(_ address: IPAddress) {
        switch address.unmapped {
        case .v4(let word):
            isIPv6 = false
            prefix = UInt64(word >> 8)
        case .v6(let high, _, _):
            isIPv6 = true
            prefix = high >> 16
        }
    }
}
