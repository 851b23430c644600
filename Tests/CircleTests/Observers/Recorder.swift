internal import Concurrency
internal import Identity
internal import Transport

/// The plaintext that a node reads from its connections.
final class Recorder: Sendable {
    private let streams = Locked<[[UInt8]]>([])

    /// The bytes of all streams, one stream after the other.
    var bytes: [UInt8] { streams.withLock { $0.reduce(into: [UInt8]()) { $0 += $1 } } }

    /// Returns the number of a new stream.
    fileprivate func addStream() -> Int {
        streams.withLock { streams in
            streams.append([])
            return streams.count - 1
        }
    }

    fileprivate func append(_ bytes: [UInt8], to stream: Int) {
        streams.withLock { $0[stream] += bytes }
    }
}

/// The datagrams that endpoints hand to the system, as a host on their link captures them.
final class DatagramRecorder: Sendable {
    /// A datagram on the link.
    struct Datagram: Sendable {
        let target: SocketAddress
        let bytes: [UInt8]
    }

    private let recorded = Locked<[Datagram]>([])

    /// The datagrams in the order in which they left.
    var datagrams: [Datagram] { recorded.withLock { $0 } }

    func append(_ bytes: [UInt8], to target: SocketAddress) {
        recorded.withLock { $0.append(Datagram(target: target, bytes: bytes)) }
    }
}

/// An endpoint whose node reads through a recorder.
final class RecordingEndpoint: Endpoint {
    private let base: any Endpoint
    private let recorder: Recorder

    init(_ base: any Endpoint, _ recorder: Recorder) {
        self.base = base
        self.recorder = recorder
    }

    var localPeerId: PeerId { base.localPeerId }
    var localAddresses: [SocketAddress] { base.localAddresses }
    var foreignDatagrams: AsyncStream<ForeignDatagram> { base.foreignDatagrams }

    func connect(to address: SocketAddress, expecting peer: PeerId) async throws -> any Connection {
        RecordingConnection(try await base.connect(to: address, expecting: peer), recorder)
    }

    func connect(
        to address: SocketAddress,
        expecting peer: PeerId,
        from port: UInt16?
    ) async throws -> any Connection {
        RecordingConnection(try await base.connect(to: address, expecting: peer, from: port), recorder)
    }

    func accept() async throws -> (any Connection)? {
        guard let connection = try await base.accept() else { return nil }
        return RecordingConnection(connection, recorder)
    }

    func sendForeignDatagram(_ bytes: [UInt8], to address: SocketAddress) {
        base.sendForeignDatagram(bytes, to: address)
    }

    func sendForeignDatagram(_ bytes: [UInt8], to address: SocketAddress, from port: UInt16?) {
        base.sendForeignDatagram(bytes, to: address, from: port)
    }

    func openPorts(count: Int) async -> [UInt16] { await base.openPorts(count: count) }

    func closePorts(_ ports: [UInt16]) { base.closePorts(ports) }

    func openChannel(_ channel: ChannelId, over relay: any Connection) {
        base.openChannel(channel, over: Self.base(of: relay))
    }

    func closeChannel(_ channel: ChannelId) { base.closeChannel(channel) }

    func relay(_ first: RelayEnd, _ second: RelayEnd, bytesPerSecond: Int) {
        let ends = [first, second].map { RelayEnd(channel: $0.channel, connection: Self.base(of: $0.connection)) }
        base.relay(ends[0], ends[1], bytesPerSecond: bytesPerSecond)
    }

    func stopRelaying(_ channel: ChannelId) { base.stopRelaying(channel) }

    func networkChanged() { base.networkChanged() }

    func close(code: UInt64) async { await base.close(code: code) }

    private static func base(of connection: any Connection) -> any Connection {
        guard let recording = connection as? RecordingConnection else { return connection }
        return recording.base
    }
}

private final class RecordingConnection: Connection {
    let base: any Connection
    private let recorder: Recorder

    init(_ base: any Connection, _ recorder: Recorder) {
        self.base = base
        self.recorder = recorder
    }

    var remotePeerId: PeerId { base.remotePeerId }
    var remoteAddress: SocketAddress { base.remoteAddress }
    var roundTrip: Duration? { base.roundTrip }
    var isDialler: Bool { base.isDialler }
    var pathEvents: AsyncStream<PathEvent> { base.pathEvents }

    func probe() { base.probe() }

    func migrate(to address: SocketAddress, from port: UInt16?) { base.migrate(to: address, from: port) }

    func extendLimits() { base.extendLimits() }

    func exportKeyingMaterial(label: String, byteCount: Int) throws -> [UInt8] {
        try base.exportKeyingMaterial(label: label, byteCount: byteCount)
    }

    func openStream() throws -> any Stream { RecordingStream(try base.openStream(), recorder) }

    func acceptStream() async throws -> (any Stream)? {
        guard let stream = try await base.acceptStream() else { return nil }
        return RecordingStream(stream, recorder)
    }

    func close(code: UInt64, reason: String) { base.close(code: code, reason: reason) }

    func closed() async -> TransportError { await base.closed() }
}

private final class RecordingStream: Stream {
    private let base: any Stream
    private let recorder: Recorder
    private let number: Int

    init(_ base: any Stream, _ recorder: Recorder) {
        self.base = base
        self.recorder = recorder
        number = recorder.addStream()
    }

    func read(atMost maximum: Int) async throws -> (bytes: [UInt8], isFinal: Bool) {
        let piece = try await base.read(atMost: maximum)
        recorder.append(piece.bytes, to: number)
        return piece
    }

    func write(_ bytes: [UInt8], finish: Bool) async throws { try await base.write(bytes, finish: finish) }

    func delivered() async throws { try await base.delivered() }

    func whenStopped(_ handler: (@Sendable (TransportError) -> Void)?) { base.whenStopped(handler) }

    func reset(code: UInt64) { base.reset(code: code) }
}
