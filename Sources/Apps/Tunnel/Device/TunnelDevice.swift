internal import CTunnelShim
internal import Libc

/// A TUN interface with one or more queues, which owns their descriptors and closes them with its last reference.
///
/// The interface, its addresses and routes exist while any process has a descriptor of it. Reads and writes never block;
/// each queue may be used by one thread concurrently with the others.
package final class TunnelDevice: Sendable {
    /// The most queues of a device.
    package static let queueLimit = 16
    /// The longest name of an interface, in bytes.
    package static let nameByteLimit = Int(CT_NAME_ROOM) - 1

    /// The result of a read.
    package enum ReadOutcome: Equatable, Sendable {
        case frame
        /// No frame is waiting.
        case empty
        /// A frame that cannot be treated; the next read continues.
        case refused(OffloadError)
    }

    /// The result of a write.
    package enum WriteOutcome: Equatable, Sendable {
        case written
        /// The kernel refused this frame, or has no room for it; the frame is lost, later ones are independent of it.
        case dropped
    }

    /// The name of the interface.
    package let name: String
    /// The active features.
    package let features: DeviceFeatures
    private let descriptors: [Int32]

    /// Creates an interface in the network namespace of the calling thread.
    ///
    /// A name with `%d` gets a number of the kernel's choice. One of the 1...16 `queues` is created where the kernel lacks
    /// queues; of the `wanted` features those are active that the kernel has.
    package init(
        creating name: String,
        queues: Int = 1,
        wanted: DeviceFeatures = DeviceFeatures()
    ) throws(TunnelError) {
        precondition((1...Self.queueLimit).contains(queues), "\(queues) queues")
        guard Self.isValid(name) else { throw .invalidInterfaceName(name) }
        var code: Int32 = 0
        for var features in wanted.attempts {
            var realName = name
            let first = Self.open(&realName, features)
            guard first >= 0 else {
                code = -first
                // Only an unknown flag is a reason to try with less.
                guard code == EINVAL || code == EOPNOTSUPP else { break }
                continue
            }
            var opened = [first]
            while features.hasQueues, opened.count < queues {
                let next = Self.open(&realName, features)
                guard next >= 0 else { break }
                opened.append(next)
            }
            features.offloads = Self.configure(opened, features)
            (self.name, self.features, descriptors) = (realName, features, opened)
            return
        }
        throw .deviceNotCreated(name: name, code: code)
    }

    /// Takes over the queues of an existing interface, which an unprivileged process may do with inherited descriptors.
    ///
    /// The descriptors belong to the device afterwards; after an error they belong to the caller.
    package init(
        adopting descriptors: [Int32],
        offloads wanted: OffloadSet = .all
    ) throws(TunnelError) {
        precondition(!descriptors.isEmpty, "a device has a queue")
        var identity: (name: String, features: DeviceFeatures)?
        for descriptor in descriptors {
            let found = try Self.identify(descriptor)
            guard identity == nil || identity?.name == found.name else { throw .notADevice(code: EINVAL) }
            identity = found
            _ = ct_set_blocking(descriptor, false)
            _ = ct_set_inherited(descriptor, false)
        }
        guard let identity else { throw .notADevice(code: EINVAL) }
        var features = identity.features
        features.offloads = wanted
        features.offloads = Self.configure(descriptors, features)
        (name, self.features, self.descriptors) = (identity.name, features, descriptors)
    }

    deinit {
        for descriptor in descriptors { _ = close(descriptor) }
    }

    /// The number of queues.
    package var queueCount: Int { descriptors.count }

    /// The descriptor of a queue, to wait on or to pass to another process; it remains the device's.
    package func descriptor(ofQueue queue: Int) -> Int32 { descriptors[queue] }

    /// Reads the next frame of a queue.
    package func read(_ queue: Int, into frame: inout ReceivedFrame) throws(TunnelError) -> ReadOutcome {
        let descriptor = descriptors[queue]
        let count: Int
        do {
            count = try unsafe frame.fill(hasHeader: features.hasVirtualHeader) { room in
                unsafe ct_read(descriptor, room.baseAddress?.assumingMemoryBound(to: UInt8.self), room.count)
            }
        } catch {
            return .refused(error)
        }
        if count > 0 { return .frame }
        let code = Int32(truncatingIfNeeded: -count)
        if code == EAGAIN || code == EWOULDBLOCK { return .empty }
        throw .deviceFailed(name: name, code: code)
    }

    /// Writes a frame of ``SegmentCoalescer/frames`` to a queue.
    package func write(
        _ queue: Int,
        frame index: Int,
        of frames: borrowing FrameBatch,
        in batch: borrowing PacketBatch
    ) throws(TunnelError) -> WriteOutcome {
        let limit = Int(CT_PIECE_LIMIT)
        let head = frames.head(of: index)
        let written = unsafe withUnsafeTemporaryAllocation(of: ct_piece.self, capacity: limit) { pieces in
            var count = 0
            frames.forEachPiece(of: index, in: batch) { piece in
                guard count < limit else { return }
                unsafe pieces[count] = ct_piece(offset: UInt32(piece.offset), length: UInt32(piece.length))
                count += 1
            }
            return unsafe head.withUnsafeBufferPointer { head in
                unsafe batch.bytes.withUnsafeBufferPointer { memory in
                    unsafe ct_write(
                        descriptors[queue],
                        head.baseAddress,
                        head.count,
                        memory.baseAddress,
                        pieces.baseAddress,
                        count
                    )
                }
            }
        }
        return try outcome(written)
    }

    /// Writes all frames of ``SegmentCoalescer/frames`` to a queue; returns the number that the kernel took.
    package func write(
        _ queue: Int,
        _ frames: borrowing FrameBatch,
        in batch: borrowing PacketBatch
    ) throws(TunnelError) -> Int {
        var taken = 0
        for index in 0..<frames.count where try write(queue, frame: index, of: frames, in: batch) == .written {
            taken += 1
        }
        return taken
    }

    private func outcome(_ written: Int) throws(TunnelError) -> WriteOutcome {
        guard written < 0 else { return .written }
        let code = Int32(truncatingIfNeeded: -written)
        // The interface was removed.
        guard code != EBADF else { throw .deviceFailed(name: name, code: code) }
        return .dropped
    }

    // MARK: - The kernel

    /// Whether a name has letters, digits, `.`, `_`, `-` alone, and `%d` for a number; neither the kernel nor a rule of the
    /// packet filter gives these a meaning.
    static func isValid(_ name: String) -> Bool {
        let plain = name.hasSuffix("%d") ? name.dropLast(2) : name[...]
        let isPlain = plain.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
            default: false
            }
        }
        return isPlain && (1...nameByteLimit).contains(name.utf8.count) && name != "." && name != ".."
    }

    private static func properties(_ features: DeviceFeatures) -> Int32 {
        var properties: Int32 = 0
        if features.hasVirtualHeader { properties |= Int32(CT_HAS_HEADER) }
        if features.hasQueues { properties |= Int32(CT_HAS_QUEUES) }
        return properties
    }

    private static func open(_ name: inout String, _ features: DeviceFeatures) -> Int32 {
        var room = name.utf8.map { CChar(truncatingIfNeeded: $0) }
        room += [CChar](repeating: 0, count: Int(CT_NAME_ROOM) - room.count)
        let descriptor = unsafe ct_tun_open(&room, properties(features))
        name = Self.text(room)
        return descriptor
    }

    private static func text(_ room: [CChar]) -> String {
        String(decoding: room.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }

    private static func identify(_ descriptor: Int32) throws(TunnelError) -> (name: String, features: DeviceFeatures) {
        var room = [CChar](repeating: 0, count: Int(CT_NAME_ROOM))
        var properties: Int32 = 0
        let status = unsafe ct_tun_identify(descriptor, &room, &properties)
        guard status >= 0 else { throw .notADevice(code: -status) }
        let features = DeviceFeatures(
            hasVirtualHeader: properties & Int32(CT_HAS_HEADER) != 0,
            hasQueues: properties & Int32(CT_HAS_QUEUES) != 0,
            offloads: []
        )
        return (text(room), features)
    }

    /// Sets the header and the offloads of all queues, and returns the active offloads.
    private static func configure(_ descriptors: [Int32], _ features: DeviceFeatures) -> OffloadSet {
        guard features.hasVirtualHeader else { return [] }
        for descriptor in descriptors { _ = ct_tun_set_header(descriptor) }
        return OffloadSet.negotiate(features.offloads) { set in ct_tun_set_offloads(descriptors[0], set.rawValue) == 0 }
    }
}
