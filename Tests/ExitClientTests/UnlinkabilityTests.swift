internal import BlindTokens
internal import Testing

/// Issuer and gateway together, over loopback: all requests, answers, files and logs of both.
///
/// Both serve as their programs do, without the tasks of upkeep. The wallets and the requests are those of the client;
/// the time is virtual, and orders and delays follow from seeds.
@Suite("Unlinkability", .timeLimit(.minutes(5))) struct UnlinkabilityTests {
    @Test func `the transcripts of issuer and gateway for 1,000 tokens match no better than chance`() async throws {
        let seen = try await Observation.of(.wallet, clients: 40, allowance: 25, seed: 1)
        #expect(seen.issuances.count == 1_000 && seen.redemptions.count == 1_000)
        try checkBytes(seen)
        checkConnections(seen)
        checkTimes(seen)
        for matcher in Matcher.allCases {
            let score = matcher.score(seen)
            #expect(score < matcher.bound(seen), "\(matcher) recognises \(score) of 1,000 tokens")
        }
        // Without blinding, the issuer sees the message and its signature.
        var broken = seen
        for redemption in seen.redemptions {
            broken.issuances[redemption.issuance].parts = [
                redemption.token.input.bytes, redemption.token.authenticator,
            ]
        }
        #expect(Matcher.bytes.score(broken) == 1_000)
    }

    @Test func `a wallet that uses tokens in their order is recognised by the order`() async throws {
        let seen = try await Observation.of(.inOrder, clients: 4, allowance: 8, seed: 2)
        #expect(Matcher.order.score(seen) >= Matcher.order.bound(seen))
    }

    @Test func `a client that obtains each token when it needs it is recognised by the time`() async throws {
        let seen = try await Observation.of(.atOnce, clients: 4, allowance: 8, seed: 3)
        #expect(Matcher.time.score(seen) >= Matcher.time.bound(seen))
    }

    /// No eight bytes are common but those of values that are equal for all clients.
    ///
    /// A window of random bytes is common by chance with a probability of less than 1e-6 in a run.
    private func checkBytes(_ seen: Observation) throws {
        let constants = ByteWindows.all(seen.constants.values.joined())
        let issuerFiles = ByteWindows.all(seen.issuer.files).filter { !ByteWindows.isPadding($0) }
        let issued = ByteWindows.all(seen.issuer.exchanges.flatMap(\.parts)).union(issuerFiles).subtracting(constants)
        var common: Set<UInt64> = []
        for part in seen.gateway.exchanges.flatMap(\.parts) + seen.gateway.files {
            ByteWindows.visit(part) { if issued.contains($0) { common.insert($0) } }
        }
        let texts = common.map { String(decoding: ByteWindows.bytes($0), as: UTF8.self) }.sorted()
        #expect(issued.count > 500_000 && common.isEmpty, "\(common.count) common windows: \(texts.prefix(40))")
    }

    /// Each request has a connection of its own, to one of the two servers.
    ///
    /// The address of a client is not compared: it is known to each server that the client connects to.
    private func checkConnections(_ seen: Observation) {
        for party in [seen.issuer, seen.gateway] { #expect(party.connectionCount == party.exchanges.count) }
    }

    /// No token is redeemed in the moment of its issuance.
    private func checkTimes(_ seen: Observation) {
        for redemption in seen.redemptions {
            let age = redemption.seconds - seen.issuances[redemption.issuance].seconds
            #expect(age >= TokenWallet.delaySeconds.lowerBound)
        }
    }
}
