internal import CQUICShim
internal import Concurrency
internal import Identity
internal import Transport

/// A connection of a ``QUICEndpoint``.
///
/// It closes when neither itself nor any of its streams is in use.
final class QUICConnection: Connection {
    let remotePeerId: PeerId
    let core: ConnectionCore
    /// The endpoint lives as long as its connections.
    private let endpoint: QUICEndpoint

    init(core: ConnectionCore, peer: PeerId, endpoint: QUICEndpoint) {
        self.core = core
        self.endpoint = endpoint
        remotePeerId = peer
    }

    deinit {
        guard !core.isEnded else { return }
        core.submissions.post(.close(core, code: 0, reason: ""))
    }

    var remoteAddress: SocketAddress { core.output.shared.withLock { $0.remoteAddress } }

    var roundTrip: Duration? {
        let nanoseconds = core.output.shared.withLock { $0.roundTrip }
        return nanoseconds == 0 ? nil : .nanoseconds(nanoseconds)
    }

    var isDialler: Bool { core.isDialler }

    var pathEvents: AsyncStream<PathEvent> { core.output.pathEvents }

    func migrate(to address: SocketAddress, from port: UInt16?) {
        core.submissions.post(.migrate(core, ru_addr(address.unmapped), port: port))
    }

    func extendLimits() {
        core.submissions.post(.extendLimits(core))
    }

    func exportKeyingMaterial(label: String, byteCount: Int) throws -> [UInt8] {
        if let error = core.output.ended.value { throw error }
        let secret = core.output.shared.withLock { $0.exporterSecret }
        guard let bytes = Exporter.derive(from: secret, label: label, byteCount: byteCount) else {
            throw TransportError.misuse("a label of at most 249 bytes and at most 8 160 bytes of material")
        }
        return bytes
    }

    func openStream() throws -> any Stream {
        if let error = core.output.ended.value { throw error }
        return QUICStream(core: StreamCore(connection: core, isRemote: false), connection: self)
    }

    func acceptStream() async throws -> (any Stream)? {
        guard let stream = try await core.output.arrivals.next() else { return nil }
        stream.markAccepted()
        return QUICStream(core: stream, connection: self)
    }

    func probe() {
        core.submissions.post(.probe(core))
    }

    func close(code: UInt64, reason: String) {
        core.submissions.post(.close(core, code: min(code, 1 << 62 - 1), reason: Self.shortened(reason)))
    }

    /// At most 256 bytes of UTF-8, cut between characters.
    private static func shortened(_ reason: String) -> String {
        // No need to walk back over megabytes.
        var text = reason.prefix(256)
        while text.utf8.count > 256 { text = text.dropLast() }
        return String(text)
    }

    func closed() async -> TransportError {
        do throws(CancellationError) {
            return try await core.output.ended.wait()
        } catch {
            return .misuse("waiting for the end of a connection was cancelled")
        }
    }
}

/// The exporter of TLS 1.3.
enum Exporter {
    /// Derives bytes from a connection's exporter secret; nil when asked for too many.
    static func derive(from secret: [UInt8], label: String, byteCount: Int) -> [UInt8]? {
        guard byteCount > 0, byteCount <= 255 * 32 else { return nil }
        let name = Array(label.utf8)
        var status = Int32(RQ_FAILED)
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { room, count in
            unsafe name.withUnsafeBufferPointer { name in
                let label = unsafe rq_bytes(base: name.baseAddress, length: name.count)
                unsafe secret.withUnsafeBufferPointer { secret in
                    unsafe status = rq_export(secret.baseAddress, secret.count, label, room.baseAddress, byteCount)
                }
            }
            count = status == Int32(RQ_OK) ? byteCount : 0
        }
        return status == Int32(RQ_OK) ? bytes : nil
    }
}
