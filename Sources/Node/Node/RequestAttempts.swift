internal import Identity
internal import Kademlia
internal import NodeCore
internal import Services
internal import Transport

/// A stream that was opened for a request, in one round under the lock of the driver.
struct RequestStream: Sendable {
    let peer: PeerId
    /// Whether the provider declared the action idempotent.
    var isIdempotent = false
    let stream: any Stream
    let number: Int
    let route: Route
    let end: RequestEnd
}

/// The attempts of one request, by one provider after another until one responds.
///
/// The connected providers are selected round-robin. When none of them can respond, the hash table is searched for
/// others.
struct RequestAttempts {
    /// The number of attempts.
    private static let limit = 8
    /// The time for a search of the hash table; then the service counts as missing.
    private static let searchPatience = Duration.seconds(2)
    /// The number of providers from the hash table that are tried, those with the newest records first.
    private static let searchLimit = 4

    private let driver: NodeDriver
    private let network: NetworkId
    /// The only provider that may respond; nil for any.
    private let peer: PeerId?
    /// Whether the request moves to another provider as soon as its own is suspected to have left.
    private let movesOn: Bool
    private let deadline: Duration
    private var header: RequestHeader
    private var tried: [PeerId] = []

    /// Prepares a request.
    ///
    /// - Throws: ``ServiceFailure`` when the header cannot be sent.
    init(
        _ driver: NodeDriver,
        _ header: RequestHeader,
        in network: NetworkId,
        to peer: PeerId?,
        movesOn: Bool
    ) throws(ServiceFailure) {
        do {
            try header.check()
        } catch {
            throw ServiceFailure(kind: .protocolViolation, message: error.description)
        }
        self.driver = driver
        self.network = network
        self.peer = peer
        self.movesOn = movesOn
        deadline = driver.now + min(header.timeLimit, RequestHeader.longestTimeLimit)
        self.header = header
    }

    /// Calls `body` for one provider after another, until it succeeds or its failure may not be followed by another
    /// attempt.
    mutating func run<Result: Sendable>(
        _ body: (OutgoingRequest, RequestHeader, _ prefix: [UInt8]) async throws -> Result
    ) async throws -> Result {
        var lastFailure: (any Error)?
        while true {
            let opened: RequestStream
            do {
                opened = try await self.open()
            } catch let failure as ServiceFailure where failure.kind == .unreachable {
                throw lastFailure ?? failure
            }
            if lastFailure != nil { header.timeLimit = deadline - driver.now }
            let isIdempotent = header.isIdempotent || opened.isIdempotent
            if movesOn, peer == nil, isIdempotent { driver.letMove(opened, header.path, tried) }
            let request = OutgoingRequest(driver, opened)
            let prefix = StreamHeader(kind: .request, networkIndex: opened.route.index).bytes
            do {
                return try await body(request, header, prefix)
            } catch {
                tried.append(opened.peer)
                guard peer == nil, tried.count < Self.limit, Self.mayRetry(after: error, isIdempotent) else {
                    throw error
                }
                lastFailure = error
            }
        }
    }

    /// Whether another provider may perform the request after a failure.
    private static func mayRetry(after error: any Error, _ isIdempotent: Bool) -> Bool {
        switch error {
        case let failure as ServiceFailure: failure.kind.isBeforeHandling
        case is NodeError: isIdempotent
        default: false
        }
    }

    /// Opens a stream to the next provider, connecting to it if need be.
    private func open() async throws -> RequestStream {
        if let peer { return try await driver.reachAndOpen(peer, deadline, in: network) }
        do {
            return try openConnected()
        } catch let failure as ServiceFailure {
            return try await openElsewhere(orThrow: failure)
        }
    }

    private func openConnected() throws -> RequestStream {
        try driver.openConnected(header.path, deadline, in: network, excluding: tried)
    }

    // MARK: Providers without a connection

    /// Searches for providers that are not connected and opens a stream to the first that can be reached.
    ///
    /// - Throws: `failure`, the reason why no connected provider can respond, unless the search yields another one.
    private func openElsewhere(orThrow failure: ServiceFailure) async throws -> RequestStream {
        guard failure.kind != .noAction else { throw failure }
        let found = try await search(header.servicePath)
        // A peer that was just connected may have announced its services meanwhile.
        do {
            return try openConnected()
        } catch let later as ServiceFailure {
            // No connected provider, as before, unless one has the service without the action.
            guard later.kind != .noAction else { throw later }
        }
        // The offers of connected peers are known.
        let providers = driver.withoutOffers(found.filter { !tried.contains($0) }, in: network)
        for provider in providers.prefix(Self.searchLimit) {
            do {
                return try await driver.reachAndOpen(provider, deadline, in: network)
            } catch is NodeError {
                continue
            }
        }
        throw providers.isEmpty ? failure : ServiceFailure(kind: .unreachable)
    }

    /// The providers of a service according to the hash table, those with the newest records first.
    private func search(_ service: String) async throws -> [PeerId] {
        let now = driver.now
        guard !driver.isMissing(service, in: network), deadline > now else { return [] }
        let policy = Kademlia.RequestPolicy(
            deadline: min(Self.searchPatience, deadline - now),
            attempts: 1,
            reading: .everyone
        )
        let key = Services.recordKey(of: service)
        let answer = try await driver.performTableRequest(.all(key: key), in: network, policy)
        var providers: [PeerId] = []
        if case .found(let records) = answer.outcome { providers = records.filter { !$0.isTombstone }.map(\.writer) }
        if providers.isEmpty { driver.noteMissing(service, in: network) }
        return providers
    }
}
