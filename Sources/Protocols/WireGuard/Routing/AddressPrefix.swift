package import Identity

/// A block of addresses: an address and the number of leading bits that count.
package struct AddressPrefix: Hashable, Sendable {
    /// The first address of the block.
    package let address: IPAddress
    /// The leading bits that all addresses of the block share.
    package let length: Int

    /// The block of `address`, with the bits after `length` set to 0; nil if `length` does not fit the family.
    package init?(_ address: IPAddress, length: Int) {
        guard 0...(address.isIPv6 ? 128 : 32) ~= length else { return nil }
        self.length = length
        self.address =
            switch address {
            case .v4(let word): .v4(word & UInt32(truncatingIfNeeded: AddressBits.mask(length) >> 32))
            case .v6(let high, let low, _):
                .v6(high: high & AddressBits.mask(length), low: low & AddressBits.mask(length - 64), scope: 0)
            }
    }

    /// The bits of the first address.
    var bits: AddressBits { AddressBits(address) }
}

extension AddressPrefix: CustomStringConvertible {
    /// The form of the `wg` command: `192.0.2.0/24`, `2001:db8::/32`.
    package var description: String { "\(address)/\(length)" }
}

extension AddressPrefix: Comparable {
    /// Orders by address, then shorter blocks first.
    package static func < (left: AddressPrefix, right: AddressPrefix) -> Bool {
        left.address == right.address ? left.length < right.length : left.address < right.address
    }
}

/// The bits of an address, the first one on top of `high`; an IPv4 address has 32 of them.
struct AddressBits: Hashable, Sendable {
    var high: UInt64
    var low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    init(_ address: IPAddress) {
        switch address {
        case .v4(let word): self.init(high: UInt64(word) << 32, low: 0)
        case .v6(let high, let low, _): self.init(high: high, low: low)
        }
    }

    /// A word with `length` leading ones, where `length` may lie outside of the word.
    static func mask(_ length: Int) -> UInt64 {
        length <= 0 ? 0 : length >= 64 ? .max : ~(UInt64.max >> UInt64(length))
    }

    /// Whether the bit after the first `length` ones is set.
    func bit(after length: Int) -> Bool {
        length < 64 ? high >> UInt64(63 - length) & 1 == 1 : low >> UInt64(127 - length) & 1 == 1
    }

    /// The number of leading bits that both share.
    func sharedLength(with other: AddressBits) -> Int {
        let difference = high ^ other.high
        return difference != 0 ? difference.leadingZeroBitCount : 64 + (low ^ other.low).leadingZeroBitCount
    }

    /// The first `length` bits, and zeros.
    func prefix(_ length: Int) -> AddressBits {
        AddressBits(high: high & Self.mask(length), low: low & Self.mask(length - 64))
    }
}
