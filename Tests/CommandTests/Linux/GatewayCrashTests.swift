#if os(Linux)
internal import BlindTokens
internal import Bytes
internal import CryptoPrimitives
internal import ExitModel
internal import Foundation
internal import GatewayStore
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing

/// A gateway of the built command that is killed while it redeems tokens.
@Suite(
    "A killed gateway",
    .enabled(if: TunnelLab.obstacle == nil, "needs root, namespaces, /dev/net/tun and nft"),
    .aside,
    .serialized,
    .timeLimit(.minutes(15))
)
struct GatewayCrashTests {
    private let exit: ExitLab
    private let issuerKey: TokenPrivateKey

    init() throws {
        exit = try ExitLab()
        issuerKey = try exit.issuerKey()
    }

    /// The answer to a request, without a status if the connection broke.
    private struct Answer {
        let index: Int
        let status: Int?
        /// The addresses of the lease, as ``leased()`` writes them.
        let addresses: String
        let code: String?
    }

    /// The time after which the gateway ends the first lease for which a stopped engine has not answered.
    private static let enginePatience = Duration.seconds(5)

    /// Sends requests to a gateway that spends the tokens and is killed before it answers; it is started again.
    ///
    /// The engine is stopped, so that the gateway has stored the leases, and cannot answer yet. If it has waited too
    /// long for the engine, other requests are sent.
    ///
    /// - Returns: The requests, and the addresses that are leased for them.
    private func lose(_ count: Int) throws -> (requests: [RedemptionRequest], addresses: Set<String>) {
        var patience = Self.enginePatience
        while true {
            let lost = try requests(count)
            let engine = try #require(try ExitLab.engines(of: exit.gateway.id).first)
            let begin = ContinuousClock.now
            #expect(kill(engine, SIGSTOP) == 0)
            let redeeming = try exit.redeeming(lost)
            // Longer each time: a slow machine takes a while to send the requests.
            patience += Self.enginePatience
            var stored = 0
            while stored < count, ContinuousClock.now < begin + patience { stored = try leased().count }
            #expect(exit.gateway.end(by: SIGKILL) == -SIGKILL)
            let mayHaveAnswered = ContinuousClock.now >= begin + Self.enginePatience
            kill(engine, SIGCONT)
            let unanswered = try answers(of: redeeming).filter { $0.status == nil }
            try exit.restartGateway()
            let addresses = try leased()
            if mayHaveAnswered, unanswered.count < count || addresses.count < count {
                try forgetLeases()
                continue
            }
            #expect(unanswered.count == count && addresses.count == count)
            return (lost, addresses)
        }
    }

    /// Starts the gateway again without leases and spent tokens.
    private func forgetLeases() throws {
        #expect(exit.gateway.end(by: SIGKILL) == -SIGKILL)
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: exit.gatewayFile + suffix)  // SQLite may have removed it
        }
        try exit.restartGateway()
    }

    @Test func `tokens that were spent without an answer stay spent, and their leases end`() async throws {
        let count = 8
        let (lost, addresses) = try lose(count)
        // Neither the same client nor another one gets a lease for a spent token.
        let again = try answers(of: exit.redeeming(lost + lost.map { try $0.byAnotherClient() }))
        #expect(again.count == 2 * count && again.allSatisfy { $0.status == 409 && $0.code == "token-spent" })
        // With another token the client has the address that was leased to it.
        let retried = try answers(of: exit.redeeming(lost.map { try request($0.client) }))
        #expect(retried.allSatisfy { $0.status == 200 })
        #expect(Set(retried.map(\.addresses)) == addresses)
        #expect(try leased() == addresses)
        try await expectEnds(of: count)
    }

    @Test func `the engine of a killed gateway ends`() async throws {
        let engine = try #require(try ExitLab.engines(of: exit.gateway.id).first)
        #expect(exit.gateway.end(by: SIGKILL) == -SIGKILL)
        while ExitLab.isRunning(engine) {}
    }

    @Test func `a gateway killed at any moment grants one lease for a token`() throws {
        for round in 0..<(LongTests.areRun ? 40 : 3) {
            let before = try leases()
            let sent = try requests(48)
            let first = try exit.redeeming(sent)
            var answers: [Answer] = []
            while answers.count < 3 + round * 7 % 24, let answer = try Self.answer(first.nextLine()) {
                answers.append(answer)
            }
            #expect(exit.gateway.end(by: SIGKILL) == -SIGKILL)
            answers += try self.answers(of: first)
            #expect(answers.count == sent.count && answers.allSatisfy { [nil, 200].contains($0.status) })
            try exit.restartGateway()
            let granted = Set(answers.filter { $0.status == 200 }.map(\.index))
            // A lease without an answer is that of a spent token.
            let stored = try newLeaseCount(since: before)
            let again = try self.answers(of: exit.redeeming(sent.map { try $0.byAnotherClient() }))
            let refused = Set(again.filter { $0.status == 409 }.map(\.index))
            #expect(again.allSatisfy { $0.status == 409 || $0.status == 200 })
            #expect(refused.isSuperset(of: granted), "round \(round)")
            #expect(refused.count == stored, "round \(round)")
            #expect(try newLeaseCount(since: before) == sent.count, "round \(round)")
            let third = try self.answers(of: exit.redeeming(sent))
            #expect(third.allSatisfy { $0.status == 409 }, "round \(round)")
        }
    }

    // MARK: Requests

    /// Makes requests of different clients.
    private func requests(_ count: Int) throws -> [RedemptionRequest] {
        try (0..<count).map { _ in try request(RedemptionRequest.Client()) }
    }

    /// Makes a request with a token of its own.
    private func request(_ client: RedemptionRequest.Client) throws -> RedemptionRequest {
        let challenge = try ExitEpoch(at: SystemProcess.wallSeconds)
            .challenge(issuerName: ExitLab.issuerName, originInfo: ExitLab.exitName)
        var random = SystemRandom()
        let input = CryptoUtils.makeTokenInput(for: challenge, key: issuerKey.publicKey, using: &random)
        let pending = try CryptoUtils.blind(input, for: issuerKey.publicKey)
        let token = try CryptoUtils.unblind(issuerKey.response(to: pending.request).bytes, for: pending)
        return RedemptionRequest(
            authorization: "PrivateToken token=\"\(Base64URL.encode(token.bytes, padded: true))\"",
            client: client
        )
    }

    /// The answers to all requests that are left.
    private func answers(of redeeming: ChildProcess) throws -> [Answer] {
        var answers: [Answer] = []
        while let answer = try Self.answer(redeeming.nextLine()) { answers.append(answer) }
        #expect(redeeming.waitUntilExit() == 0)
        return answers
    }

    private static func answer(_ line: String?) throws -> Answer? {
        guard let line else { return nil }
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let body = object["body"] as? [String: Any]
        let error = body?["error"] as? [String: Any]
        return Answer(
            index: try #require(object["index"] as? Int),
            status: object["status"] as? Int,
            addresses: (body?["addresses"] as? [String] ?? []).joined(separator: " "),
            code: error?["code"] as? String
        )
    }

    // MARK: Leases

    /// The addresses that are leased, those of one client with a space between them.
    private func leased() throws -> Set<String> { Set(try leases().keys) }

    /// The ends of the leases by their addresses.
    private func leases() throws -> [String: Int] {
        let clients = try exit.clients()
        let leases = try clients.map { client in
            let addresses = try #require(client["addresses"] as? [String])
            return (addresses.joined(separator: " "), try #require(client["leaseEnds"] as? Int))
        }
        let ends = Dictionary(leases) { max($0, $1) }
        #expect(ends.count == clients.count)
        return ends
    }

    /// The number of leases that were granted since `former` was read; some of those may have ended, for others to take
    /// their addresses.
    private func newLeaseCount(since former: [String: Int]) throws -> Int {
        try leases().count { former[$0.key] != $0.value }
    }

    /// Checks that the leases of clients that never complete a handshake end after 180 seconds.
    private func expectEnds(of count: Int) async throws {
        while LongTests.areRun, try !leased().isEmpty {}
        #expect(exit.gateway.end(by: SIGKILL) == -SIGKILL)
        let store = try GatewayStore(path: exit.gatewayFile)
        let due = try await store.due(at: SystemProcess.wallSeconds + 180, limit: 2 * count)
        #expect(due.count == (LongTests.areRun ? 0 : count))
        #expect(try await store.leases().count == due.count)
        try store.close()
    }
}
#endif
