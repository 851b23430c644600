/// The place of a client in the networks of a tunnel.
///
/// Slots number the addresses of a /16 without those that end in .0 or .255, in their order. Slot 0 is the gateway's own.
package struct LeaseSlot: Hashable, Sendable, Comparable {
    /// The number of slots for clients: 256 times 254 addresses without the gateway's.
    package static let limit = 256 * addressesPerBlock - 1
    /// The gateway's own.
    package static let gateway = LeaseSlot(checked: 0)
    private static let addressesPerBlock = 254

    /// From 0 to ``limit``.
    package let number: Int

    /// Takes a number from 1 to ``limit``; nil for another one.
    package init?(_ number: Int) {
        guard 1...Self.limit ~= number else { return nil }
        self.number = number
    }

    private init(checked number: Int) { self.number = number }

    /// The lower 16 bits of the IPv4 address, and the last group of the IPv6 address.
    var host: UInt16 {
        let (block, place) = number.quotientAndRemainder(dividingBy: Self.addressesPerBlock)
        return UInt16(block * 256 + place + 1)
    }

    package static func < (left: LeaseSlot, right: LeaseSlot) -> Bool { left.number < right.number }
}
