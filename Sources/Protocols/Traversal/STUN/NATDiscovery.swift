package import Identity

/// Determines the behaviour of the NAT with requests to a STUN server with two addresses (RFC 5780, sections 4.3 and 4.4).
///
/// All requests are sent from a socket that has sent nothing else. The order matters: first a plain request, then requests
/// for responses from addresses to which nothing was sent yet, and only then requests to those, which open filters. Silence
/// proves filtering only if the server's second address has answered at all.
package struct NATDiscovery: Sendable {
    /// An input from the driver.
    package typealias Input = STUNTransaction.Input

    /// An action for the driver.
    package enum Effect: Hashable, Sendable {
        case send([UInt8], to: SocketAddress)
        /// Feed `timeReached` at this time; replaces an earlier wake.
        case wake(at: Duration)
        /// This is all that can be found out.
        case finish(NATReport)
        /// Not even the first request was answered.
        case fail(STUNFailure)
    }

    typealias Turn = Identity.Turn<Duration, Effect>

    /// The tests (RFC 5780 numbers them in each section from I to III).
    private enum STUNTest: Int, CaseIterable {
        /// A request for the mapped address.
        case plain
        /// A request for a response from the server's other address and other port.
        case otherSource
        /// A request for a response from the server's other port.
        case otherSourcePort
        /// A request to the server's other address.
        case otherAddress
        /// A request to the server's other address and other port.
        case otherAddressAndPort
    }

    private let server: SocketAddress
    private let own: [SocketAddress]
    private let isClassifying: Bool
    private let schedule: STUNTransaction.Schedule
    private let ids: [STUNTransactionId]
    private var running: [(test: STUNTest, transaction: STUNTransaction, dueAt: Duration?)] = []
    private var outcomes: [STUNTransaction.Outcome?]
    private var otherAddress: SocketAddress?
    private var hasEnded = false

    /// Sends requests to `server` from a socket that is known under the addresses in `own`; for the kind, or for the
    /// address only.
    package init(
        server: SocketAddress,
        own: [SocketAddress],
        isClassifying: Bool = true,
        schedule: STUNTransaction.Schedule = .brief,
        using random: inout some RandomNumberGenerator
    ) {
        self.server = server.unmapped
        self.own = own.map { SocketAddress($0.ip.unmapped.withoutScope, port: $0.port) }
        self.isClassifying = isClassifying
        self.schedule = schedule
        var ids: [STUNTransactionId] = []
        for _ in STUNTest.allCases { ids.append(STUNTransactionId(using: &random)) }
        self.ids = ids
        outcomes = ids.map { _ in nil }
    }

    /// Applies `input` as of `now` and appends what the driver must do, in order.
    package mutating func handle(_ input: Input, at now: Duration, into effects: inout [Effect]) {
        Turn.run(at: now, into: &effects) { handle(input, &$0) }
    }

    private mutating func handle(_ input: Input, _ turn: inout Turn) {
        guard !hasEnded else { return }
        if case .started = input {
            start([.plain], &turn)
        } else {
            for index in running.indices { feed(input, to: index, &turn) }
        }
        running.removeAll { outcomes[$0.test.rawValue] != nil }
        advance(&turn)
        guard !hasEnded, let dueAt = running.compactMap(\.dueAt).min() else { return }
        turn.emit(.wake(at: dueAt))
    }

    private mutating func feed(_ input: Input, to index: Int, _ turn: inout Turn) {
        var steps: [STUNTransaction.Effect] = []
        running[index].transaction.handle(input, at: turn.now, into: &steps)
        for step in steps {
            switch step {
            case .send(let bytes, let place): turn.emit(.send(bytes, to: place))
            case .wake(let dueAt): running[index].dueAt = dueAt
            case .finish(let outcome): outcomes[running[index].test.rawValue] = outcome
            }
        }
    }

    // MARK: The order of tests

    private mutating func advance(_ turn: inout Turn) {
        switch outcomes[STUNTest.plain.rawValue] {
        case nil: return
        case .failed(let failure): return end(.fail(failure), &turn)
        case .answered(let answer):
            guard isClassifying, let other = answer.otherAddress, isSecond(other) else {
                let doubt = isClassifying ? NATDoubt.noSecondAddress : .notTested
                return end(.finish(report(answer, .unknown(doubt), .unknown(doubt))), &turn)
            }
            otherAddress = other.unmapped
            goOn(after: answer, &turn)
        }
    }

    private mutating func goOn(after answer: STUNAnswer, _ turn: inout Turn) {
        // A filter that lets the other address in lets the other port in, too.
        if isAnswered(.otherSource) { running.removeAll { $0.test == .otherSourcePort } }
        guard running.isEmpty else { return }
        if outcomes[STUNTest.otherSource.rawValue] == nil {
            start([.otherSource, .otherSourcePort], &turn)
        } else if outcomes[STUNTest.otherAddress.rawValue] == nil {
            start([.otherAddress, .otherAddressAndPort], &turn)
        } else {
            end(.finish(report(answer, mapping(answer), filtering)), &turn)
        }
    }

    private mutating func start(_ tests: [STUNTest], _ turn: inout Turn) {
        for test in tests {
            running.append((test, transaction(test), nil))
            feed(.started, to: running.count - 1, &turn)
        }
    }

    private func transaction(_ test: STUNTest) -> STUNTransaction {
        let other = otherAddress ?? server
        let (place, change, source): (SocketAddress, STUNChange, SocketAddress) =
            switch test {
            case .plain: (server, [], server)
            case .otherSource: (server, [.address, .port], other)
            case .otherSourcePort: (server, .port, SocketAddress(server.ip, port: other.port))
            case .otherAddress: Self.plain(SocketAddress(other.ip, port: server.port))
            case .otherAddressAndPort: Self.plain(other)
            }
        return STUNTransaction(
            id: ids[test.rawValue],
            server: place,
            change: change,
            source: source,
            schedule: schedule
        )
    }

    private static func plain(_ place: SocketAddress) -> (SocketAddress, STUNChange, SocketAddress) {
        (place, [], place)
    }

    private mutating func end(_ effect: Effect, _ turn: inout Turn) {
        hasEnded = true
        running = []
        turn.emit(effect)
    }

    // MARK: Interpretation of the answers

    /// Whether the server's other address is a usable second one: dialable, of the same family, with another IP and port.
    private func isSecond(_ other: SocketAddress) -> Bool {
        let other = other.unmapped
        return other.isDialable && other.isIPv6 == server.isIPv6
            && other.ip != server.ip && other.port != server.port
    }

    private func isAnswered(_ test: STUNTest) -> Bool { answer(to: test) != nil }

    private func answer(to test: STUNTest) -> STUNAnswer? {
        guard case .answered(let answer) = outcomes[test.rawValue] else { return nil }
        return answer
    }

    private func isRefused(_ test: STUNTest) -> Bool {
        guard case .failed(let failure) = outcomes[test.rawValue] else { return false }
        return failure != .noAnswer
    }

    private func isOwn(_ address: SocketAddress) -> Bool { own.contains(address.unmapped) }

    private func report(_ answer: STUNAnswer, _ mapping: NATMapping, _ filtering: NATFiltering) -> NATReport {
        NATReport(
            publicAddress: answer.mappedAddress,
            mapping: isOwn(answer.mappedAddress) ? .notTranslated : mapping,
            filtering: filtering
        )
    }

    private func mapping(_ first: STUNAnswer) -> NATMapping {
        guard let second = answer(to: .otherAddress) else { return .unknown(.secondAddressSilent) }
        if second.mappedAddress == first.mappedAddress { return .endpointIndependent }
        guard let third = answer(to: .otherAddressAndPort) else { return .unknown(.secondAddressSilent) }
        return third.mappedAddress == second.mappedAddress ? .addressDependent : .addressAndPortDependent
    }

    private var filtering: NATFiltering {
        if isAnswered(.otherSource) { return .endpointIndependent }
        if isRefused(.otherSource) || isRefused(.otherSourcePort) { return .unknown(.changeRefused) }
        // If the second address is silent, its silence proves no filtering.
        guard isAnswered(.otherAddress) || isAnswered(.otherAddressAndPort) else {
            return .unknown(.secondAddressSilent)
        }
        return isAnswered(.otherSourcePort) ? .addressDependent : .addressAndPortDependent
    }
}
