internal import Concurrency
internal import Testing
internal import Transport

/// A stream of a peer that sends its bytes after something else has happened.
final class HeldStream: Stream {
    let resetCode = Locked<UInt64?>(nil)
    private let bytes: [UInt8]
    private let beforeBytes: @Sendable () -> Void

    init(_ bytes: [UInt8], beforeBytes: @escaping @Sendable () -> Void) {
        self.bytes = bytes
        self.beforeBytes = beforeBytes
    }

    func read(atMost maximum: Int) -> (bytes: [UInt8], isFinal: Bool) {
        self.beforeBytes()
        return (self.bytes, true)
    }

    func write(_ bytes: [UInt8], finish: Bool) { Issue.record("\(bytes.count) bytes were written") }

    func delivered() {}

    func whenStopped(_ handler: (@Sendable (TransportError) -> Void)?) {}

    func reset(code: UInt64) { self.resetCode.withLock { $0 = code } }
}
