internal import Concurrency
public import CoreMetrics
public import Identity

/// The metrics between this device and the peers of one network, by the mobile specification's instruments.
///
/// The names are in ``RunarMetric``; every series is labelled `network` with the beginning of the network's id.
public final class NetworkMetrics: Sendable {
    /// Peers whose rates are measured concurrently; those beyond are not.
    private static let peerLimit = 1024

    private struct State: Sendable {
        var admitted: Set<PeerId> = []
        /// The second under way of each peer that was sent something lately.
        var rates: [PeerId: SecondSum] = [:]
        var bandwidth: SecondSum?
    }

    private let activePeers: Level
    private let peerMessageRates: Recorder
    private let peerLatencies: Timer
    private let bytesSent: Counter
    private let bytesReceived: Counter
    private let bandwidthUsage: Recorder
    private let discoveryAttempts: Counter
    private let discoverySuccesses: Counter
    private let discoveryTime: Timer
    private let now: @Sendable () -> Duration
    private let state = Locked(State())

    /// Makes the instruments at `factory`: that of the process, unless another one is given.
    public convenience init(networkId: NetworkId, factory: any MetricsFactory = MetricsSystem.factory) {
        let start = ContinuousClock.now
        self.init(networkId: networkId, factory: factory) { start.duration(to: .now) }
    }

    /// Creates the metrics of a network, with another clock.
    package init(networkId: NetworkId, factory: any MetricsFactory, now: @escaping @Sendable () -> Duration) {
        let labels = [("network", networkId.short)]
        self.now = now
        activePeers = Level(Meter(.activePeers, factory, labels))
        peerMessageRates = Recorder(.peerMessageRates, factory, labels)
        peerLatencies = Timer(.peerLatencies, factory, labels)
        bytesSent = Counter(.bytesSent, factory, labels)
        bytesReceived = Counter(.bytesReceived, factory, labels)
        bandwidthUsage = Recorder(.bandwidthUsage, factory, labels)
        discoveryAttempts = Counter(.discoveryAttempts, factory, labels)
        discoverySuccesses = Counter(.discoverySuccesses, factory, labels)
        discoveryTime = Timer(.discoveryTime, factory, labels)
    }

    /// Counts a message of `size` bytes to a peer, and the seconds until it confirmed or answered.
    public func recordPeerMessage(peerId: PeerId, size: Int, duration: Double) {
        peerLatencies.recordSeconds(duration)
        let now = self.now()
        let rate = state.withLock { state -> Int? in
            guard var sum = state.rates[peerId] else {
                if state.rates.count < Self.peerLimit { state.rates[peerId] = SecondSum(1, at: now) }
                return nil
            }
            let rate = sum.add(1, at: now)
            state.rates[peerId] = sum
            return rate
        }
        if let rate { peerMessageRates.record(rate) }
        recordBytes(sent: size)
    }

    /// Counts a search for a member, and the seconds that a successful one took.
    public func recordDiscovery(success: Bool, duration: Double) {
        discoveryAttempts.increment()
        if success {
            discoverySuccesses.increment()
            discoveryTime.recordSeconds(duration)
        }
    }

    /// Counts bytes, whatever they were.
    public func recordBytes(sent: Int = 0, received: Int = 0) {
        if sent > 0 { bytesSent.increment(by: sent) }
        if received > 0 { bytesReceived.increment(by: received) }
        let now = self.now()
        let sum = state.withLock { state -> Int? in
            guard state.bandwidth != nil else {
                state.bandwidth = SecondSum(sent + received, at: now)
                return nil
            }
            return state.bandwidth?.add(sent + received, at: now)
        }
        if let sum { bandwidthUsage.record(sum) }
    }

    /// Records that a peer was admitted, and returns the number of admitted peers.
    public func recordArrival(of peer: PeerId) -> Int {
        let count = state.withLock { state in
            state.admitted.insert(peer)
            return state.admitted.count
        }
        activePeers.set(to: count)
        return count
    }

    /// Records that a peer's admission ended, and returns the number of remaining peers.
    public func recordDeparture(of peer: PeerId) -> Int {
        let (count, rate) = state.withLock { state in
            state.admitted.remove(peer)
            return (state.admitted.count, state.rates.removeValue(forKey: peer)?.total)
        }
        activePeers.set(to: count)
        if let rate { peerMessageRates.record(rate) }
        return count
    }

    /// Records that the node left the network or stopped, and so has no admitted peers.
    public func recordEnd() {
        let state = self.state.withLock { state in
            defer { state = State() }
            return state
        }
        activePeers.set(to: 0)
        for rate in state.rates.values { peerMessageRates.record(rate.total) }
        if let sum = state.bandwidth { bandwidthUsage.record(sum.total) }
    }
}
