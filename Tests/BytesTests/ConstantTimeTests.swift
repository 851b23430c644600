internal import Bytes
internal import Testing

@Suite("Constant-time comparison") struct ConstantTimeTests {
    @Test func `equal bytes are equal`() {
        #expect(ConstantTime.areEqual([UInt8](), [UInt8]()))
        #expect(ConstantTime.areEqual([1, 2, 3] as [UInt8], [0, 1, 2, 3].map { UInt8($0) }.dropFirst()))
    }

    @Test func `one different bit anywhere is seen`() {
        let bytes = [UInt8](0..<64)
        for position in bytes.indices {
            for bit in 0..<8 {
                var other = bytes
                other[position] ^= 1 << UInt8(bit)
                #expect(!ConstantTime.areEqual(bytes, other))
            }
        }
    }

    @Test func `a prefix is not equal`() {
        #expect(!ConstantTime.areEqual([1, 2] as [UInt8], [1, 2, 0] as [UInt8]))
        #expect(!ConstantTime.areEqual([1, 2, 0] as [UInt8], [1, 2] as [UInt8]))
    }
}
