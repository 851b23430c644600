/// The interface that BLAKE2s and BLAKE2b share (RFC 7693), with or without a key.
///
/// With a key the result is an authentication code: compare it in constant time.
package protocol BLAKE2: Sendable {
    /// The size of the longest result, and of the longest key, in bytes.
    static var maximumByteCount: Int { get }
    /// The size of a block in bytes.
    static var blockByteCount: Int { get }

    /// Prepares a hash of 1 to ``maximumByteCount`` bytes under a key of at most ``maximumByteCount`` bytes.
    ///
    /// Other lengths are errors of the program.
    init(outputByteCount: Int, key: [UInt8])

    /// Adds bytes to the message.
    mutating func update(_ bytes: UnsafeRawBufferPointer)

    /// Returns the hash of the message.
    consuming func finalize() -> [UInt8]
}

extension BLAKE2 {
    /// Prepares a hash of the greatest length without a key.
    package init() {
        self.init(outputByteCount: Self.maximumByteCount, key: [])
    }

    /// Adds bytes to the message.
    package mutating func update(_ bytes: some Collection<UInt8>) {
        let isDone: Void? = bytes.withContiguousStorageIfAvailable { memory in
            unsafe update(UnsafeRawBufferPointer(memory))
        }
        guard isDone == nil else { return }
        unsafe Array(bytes).withUnsafeBytes { memory in unsafe update(memory) }
    }

    /// Returns the hash of `bytes` in `outputByteCount` bytes, by default ``maximumByteCount``; a key makes it a code.
    package static func hash(
        _ bytes: some Collection<UInt8>,
        outputByteCount: Int = Self.maximumByteCount,
        key: [UInt8] = []
    ) -> [UInt8] {
        var hash = Self(outputByteCount: outputByteCount, key: key)
        hash.update(bytes)
        return hash.finalize()
    }
}

/// BLAKE2s: words of 32 bits, blocks of 64 bytes, results of up to 32 bytes.
package struct BLAKE2s: BLAKE2 {
    package static let maximumByteCount = BLAKE2Core<UInt32>.maximumByteCount
    package static let blockByteCount = BLAKE2Core<UInt32>.blockByteCount

    private var core: BLAKE2Core<UInt32>

    package init(outputByteCount: Int, key: [UInt8] = []) {
        core = unsafe key.withUnsafeBytes { unsafe BLAKE2Core(outputByteCount: outputByteCount, key: $0) }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { unsafe core.update(bytes) }

    package consuming func finalize() -> [UInt8] { core.finalize() }
}

/// BLAKE2b: words of 64 bits, blocks of 128 bytes, results of up to 64 bytes.
package struct BLAKE2b: BLAKE2 {
    package static let maximumByteCount = BLAKE2Core<UInt64>.maximumByteCount
    package static let blockByteCount = BLAKE2Core<UInt64>.blockByteCount

    private var core: BLAKE2Core<UInt64>

    package init(outputByteCount: Int, key: [UInt8] = []) {
        core = unsafe key.withUnsafeBytes { unsafe BLAKE2Core(outputByteCount: outputByteCount, key: $0) }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { unsafe core.update(bytes) }

    package consuming func finalize() -> [UInt8] { core.finalize() }
}
