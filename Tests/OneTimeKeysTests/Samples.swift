@testable internal import OneTimeKeys

extension [UInt8] {
    /// The bytes with another value at one place.
    func changed(at place: Int) -> [UInt8] {
        var bytes = self
        bytes[place] ^= 0x55
        return bytes
    }

    /// The bytes with their SHA-256 at the end.
    var withChecksum: [UInt8] { Checksum.appended(to: self) }
}
