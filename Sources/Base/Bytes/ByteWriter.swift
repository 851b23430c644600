/// Appends values to an array of bytes, the counterpart of ``ByteReader``.
///
/// Integers are big endian unless a method's name states otherwise.
package struct ByteWriter: Sendable {
    /// The largest number that a variable-length integer can carry: 2^62 - 1.
    package static let maximumVarint: UInt64 = 1 << 62 - 1

    /// The bytes written so far.
    package private(set) var bytes: [UInt8] = []

    /// An empty writer with room for `capacity` bytes before it must grow.
    package init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// The number of bytes written so far.
    package var count: Int { bytes.count }

    /// Writes one byte.
    package mutating func write(_ value: UInt8) { bytes.append(value) }

    /// Writes two bytes, most significant first.
    package mutating func write(_ value: UInt16) { writeInteger(value) }

    /// Writes three bytes, most significant first; `value` must be at least 0 and less than 2^24.
    package mutating func write(uint24 value: Int) {
        precondition(0..<1 << 24 ~= value, "\(value) does not fit three bytes")
        write([UInt8(value >> 16), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)])
    }

    /// Writes four bytes, most significant first.
    package mutating func write(_ value: UInt32) { writeInteger(value) }

    /// Writes eight bytes, most significant first.
    package mutating func write(_ value: UInt64) { writeInteger(value) }

    /// Writes bytes as they are.
    package mutating func write(_ newBytes: some Sequence<UInt8>) { bytes.append(contentsOf: newBytes) }

    /// Writes the UTF-8 form of `text` as it is, without a length.
    package mutating func write(utf8 text: some StringProtocol) { bytes.append(contentsOf: text.utf8) }

    /// Writes the shortest variable-length integer of RFC 9000, section 16; `value` must be at most ``maximumVarint``.
    package mutating func writeVarint(_ value: UInt64) {
        switch Self.varintByteCount(value) {
        case 1: write(UInt8(value))
        case 2: write(UInt16(value) | 0x4000)
        case 4: write(UInt32(value) | 0x8000_0000)
        default: write(value | 0xC000_0000_0000_0000)
        }
    }

    /// Writes a variable-length count, and the bytes.
    package mutating func writeVarintPrefixed(_ newBytes: some Collection<UInt8>) {
        writeVarint(UInt64(newBytes.count))
        write(newBytes)
    }

    /// Returns the length in bytes of the shortest variable-length integer.
    package static func varintByteCount(_ value: UInt64) -> Int {
        precondition(value <= maximumVarint, "\(value) does not fit a variable-length integer")
        return switch value {
        case 0..<(1 << 6): 1
        case 0..<(1 << 14): 2
        case 0..<(1 << 30): 4
        default: 8
        }
    }

    private mutating func writeInteger<Integer: FixedWidthInteger & UnsignedInteger>(_ value: Integer) {
        for shift in stride(from: Integer.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> Integer(shift)))
        }
    }
}
