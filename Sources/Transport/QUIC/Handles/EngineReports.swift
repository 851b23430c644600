internal import Concurrency
internal import Transport

/// The reports of the engine's hooks on one connection.
///
/// The hooks run while the engine works on a packet, so the I/O thread acts on the reports when the packet is done.
struct EngineReports {
    /// The ids by which packets find the connection.
    private var ids: [QUICConnectionId] = []
    /// Streams that the peer opened in this pass.
    private var newcomers: [StreamCore] = []
    /// The reason why the peer's key was refused.
    private(set) var refusal: TransportError?

    mutating func add(_ id: QUICConnectionId) {
        ids.append(id)
    }

    mutating func remove(_ id: QUICConnectionId) {
        ids.removeAll { $0 == id }
    }

    /// Returns the ids, none of which is left.
    mutating func takeIds() -> [QUICConnectionId] {
        defer { ids = [] }
        return ids
    }

    mutating func opened(_ stream: StreamCore) {
        newcomers.append(stream)
    }

    /// Hands the streams that the peer opened to the users.
    mutating func offerNewcomers(to arrivals: BoundedChannel<StreamCore>) {
        for stream in newcomers { _ = arrivals.offer(stream) }
        newcomers.removeAll(keepingCapacity: true)
    }

    mutating func refuse(_ reason: TransportError) {
        refusal = reason
    }
}
