/// Bytes to be kept secret: keys, seeds, passwords.
///
/// They are in one allocation that is overwritten when the last reference is released, print as `SecretBytes(redacted)`
/// wherever Swift prints values, compare in constant time, and are neither Codable nor Hashable. Swapping and core dumps are
/// not prevented.
@safe
public final class SecretBytes: Sendable {
    /// Written only inside the initialisers and wiped in `deinit`; immutable in between, hence Sendable.
    private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer

    /// The number of bytes.
    public var count: Int { unsafe storage.count }

    /// Makes `count` zero bytes and lets `body` fill them in place.
    public init<E: Error>(
        count: Int,
        fillingWith body: (UnsafeMutableRawBufferPointer) throws(E) -> Void
    ) throws(E) {
        unsafe storage = .allocate(byteCount: count, alignment: 16)
        unsafe storage.initializeMemory(as: UInt8.self, repeating: 0)
        try unsafe body(storage)
    }

    /// Takes the bytes over and wipes `source`, which is empty afterwards.
    ///
    /// Other copies of the array, made before, are out of reach.
    public init(consuming source: inout [UInt8]) {
        unsafe storage = .allocate(byteCount: source.count, alignment: 16)
        unsafe storage.copyBytes(from: source)
        source.wipe()
    }

    /// Copies the bytes; wiping `source` is up to the caller.
    public init(copying source: some Collection<UInt8>) {
        unsafe storage = .allocate(byteCount: source.count, alignment: 16)
        unsafe storage.copyBytes(from: source)
    }

    deinit {
        unsafe Bytes.wipe(storage)
        unsafe storage.deallocate()
    }

    /// Calls `body` with a copy of the bytes, and wipes the copy afterwards unless `body` kept it.
    public func withBytes<R, E: Error>(_ body: ([UInt8]) throws(E) -> R) throws(E) -> R {
        var copy = unsafe [UInt8](storage)
        defer { copy.wipe() }
        return try body(copy)
    }

    /// Calls `body` with the bytes in place; the pointer is invalid afterwards.
    public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try unsafe body(UnsafeRawBufferPointer(storage))
    }
}

extension SecretBytes: Equatable {
    /// Whether both hold the same bytes, in a time that depends on their count only.
    public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        unsafe ConstantTime.areEqual(left.storage, right.storage)
    }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `SecretBytes(redacted)`.
    public var description: String { "SecretBytes(redacted)" }

    /// Always `SecretBytes(redacted)`.
    public var debugDescription: String { "SecretBytes(redacted)" }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension [UInt8] {
    /// Overwrites the elements with zeros, which the compiler may not leave out, and empties the array.
    ///
    /// An array that is shared is left alone, since writing to it would only copy it.
    package mutating func wipe() {
        unsafe withUnsafeMutableBytes { memory in
            unsafe Bytes.wipe(memory)
        }
        removeAll()
    }
}
