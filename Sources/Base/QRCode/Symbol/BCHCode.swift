/// The systematic cyclic codes that protect format and version information (ISO/IEC 18004, annexes C and D).
enum BCHCode {
    /// Returns the remainder of `data`, shifted by the degree of the generator, after division by the generator in
    /// GF(2).
    static func remainder(of data: UInt32, generator: UInt32) -> UInt32 {
        let degree = UInt32.bitWidth - 1 - generator.leadingZeroBitCount
        var rest = data << UInt32(degree)
        while rest >> UInt32(degree) != 0 {
            let excess = rest.bitWidth - 1 - rest.leadingZeroBitCount - degree
            rest ^= generator << UInt32(excess)
        }
        return rest
    }
}
