internal import Concurrency
internal import Libc
internal import Platform

/// The end of an engine, which all of its threads wait for: a pipe that becomes readable when its writer is closed.
final class EngineStop: Sendable {
    /// The descriptor to wait on.
    var descriptor: Int32 { reader.descriptor }

    private let reader: DescriptorOwner
    private let writer: Locked<DescriptorOwner?>

    /// Opens the pipe; nil if the process has no descriptors left.
    init?() {
        guard let pipe = Posix.makePipe() else { return nil }
        reader = DescriptorOwner(pipe.read)
        writer = Locked(DescriptorOwner(pipe.write))
    }

    /// Ends all loops; later calls have no effect.
    func stop() {
        let owner = writer.withLock { writer in
            defer { writer = nil }
            return writer
        }
        withExtendedLifetime(owner) {}
    }
}

/// Wakes the thread that waits for timers.
final class EngineWaker: Sendable {
    /// The descriptor to wait on.
    var descriptor: Int32 { reader.descriptor }

    private let reader: DescriptorOwner
    private let writer: DescriptorOwner

    /// Opens a pipe; nil if the process has no descriptors left.
    init?() {
        guard let pipe = Posix.makePipe() else { return nil }
        reader = DescriptorOwner(pipe.read)
        writer = DescriptorOwner(pipe.write)
        // A full pipe wakes the reader as well.
        for descriptor in [pipe.read, pipe.write] { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
    }

    /// Makes the next or present wait return.
    func raise() {
        var byte: UInt8 = 1
        _ = unsafe write(writer.descriptor, &byte, 1)
    }

    /// Forgets the calls of ``raise()`` so far.
    func clear() {
        unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { room in
            while unsafe read(reader.descriptor, room.baseAddress, room.count) == room.count {}
        }
    }
}

/// The descriptors that one thread waits for, in memory that is allocated once.
struct EngineWait {
    private var entries: [pollfd]

    /// Waits for input on each descriptor.
    init(_ descriptors: [Int32]) {
        entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    }

    /// Waits until a descriptor is ready, at most `time`, without limit if that is nil.
    mutating func wait(atMost time: Duration?) {
        for index in entries.indices { entries[index].revents = 0 }
        _ = unsafe poll(&entries, nfds_t(entries.count), Self.milliseconds(time))
    }

    /// Whether a descriptor was ready, failed or was closed.
    func isReady(_ index: Int) -> Bool { entries[index].revents != 0 }

    /// The time in whole milliseconds, rounded up, so that a wait does not end just before its time.
    private static func milliseconds(_ time: Duration?) -> Int32 {
        guard let time else { return -1 }
        let (seconds, attoseconds) = max(time, .zero).components
        guard seconds < 1 << 20 else { return .max }
        return Int32(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
