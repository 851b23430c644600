/// The sequences of eight bytes in values, each as a number.
enum ByteWindows {
    /// The bytes of a window.
    static let length = 8
    /// The zero bytes from which a window of a file is padding: one of random bytes has as many with a probability of
    /// 2 to the power of -25.
    private static let paddingCount = 4

    /// Calls `body` with each window of `bytes`.
    static func visit(_ bytes: [UInt8], _ body: (UInt64) -> Void) {
        var window: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            window = window << 8 | UInt64(byte)
            if index >= length - 1 { body(window) }
        }
    }

    /// Returns the windows of values.
    static func all(_ values: some Sequence<[UInt8]>) -> Set<UInt64> {
        var windows: Set<UInt64> = []
        for value in values { visit(value) { windows.insert($0) } }
        return windows
    }

    /// Whether a window is the padding of a page of a database.
    static func isPadding(_ window: UInt64) -> Bool {
        (0..<length).count { window >> (8 * UInt64($0)) & 0xFF == 0 } >= paddingCount
    }

    /// The bytes of a window.
    static func bytes(_ window: UInt64) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: window >> (56 - 8 * UInt64($0))) }
    }
}
