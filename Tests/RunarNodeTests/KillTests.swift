internal import Foundation
internal import Locking
internal import Logging
internal import RunarNode
internal import TestSupport
internal import Testing

/// Members whose process is killed while it answers: the system closes their sockets, and nobody says goodbye.
@Suite("Members that are killed", .timeLimit(.minutes(15))) struct KillTests {
    /// A node in a process of its own, and the one that offers its service.
    private struct Member: Sendable {
        let home: TemporaryHome
        let peerId: PeerId
        let address: String
        let node: RunningCommand
        let server: RunningCommand
    }

    /// Starts a member whose `who/are` answers its number; whoever is asked first makes `asked` and takes an hour.
    private func start(
        _ number: Int,
        for owner: RunarNode,
        in network: NetworkMetadata,
        _ asked: String
    ) async throws -> Member {
        try await aside {
            let home = try TemporaryHome()
            let peerId = try PeerId(base64Encoded: home.makeNode())
            let token = try owner.issueToken(for: peerId, in: network.networkId, expiration: nil)
            _ = try home.answer(["join", network.qrString, token.qrString])
            let node = try RunningCommand(["up", "--json"], home: home)
            let addresses = try #require(try node.next("ready")["addresses"] as? [String])
            let mark = "touch '\(asked)/\(number)'"
            let action = "are=mkdir '\(asked)' && \(mark) && exec sleep 3600; \(mark); echo \(number)"
            let server = try RunningCommand(["serve", "--json", "who", action], home: home)
            _ = try server.next("serving")
            let address = try #require(addresses.first)
            return Member(home: home, peerId: peerId, address: address, node: node, server: server)
        }
    }

    /// Runs an owner who knows two members that offer the same.
    private func withMembers(_ body: (RunarNode, [Member], _ asked: TemporaryHome) async throws -> Void) async throws {
        let config = RunarNodeConfig.createTestConfig()
        config.loggerLevel = .critical
        config.peerTimeout = .seconds(120)
        let owner = try RunarNode(config: config)
        let network = try owner.createNetwork(name: "Home")
        try await owner.start()
        let asked = try TemporaryHome()
        var members: [Member] = []
        for number in 0..<2 {
            let member = try await start(number, for: owner, in: network, asked.path)
            try await owner.connectToPeer(
                peerId: member.peerId,
                networkId: network.networkId,
                address: member.address
            )
            members.append(member)
        }
        var info: RunarServiceInfo?
        while info?.providers.count != 2 {
            try await Task.sleep(for: .milliseconds(10))
            info = try await owner.request("Home:$registry/services/who", payload: Int?.none)
        }
        try await body(owner, members, asked)
        await owner.stop()
    }

    @Test(arguments: [true, false])
    func `only a request that may be made twice goes from a member that is killed to another one`(
        isIdempotent: Bool
    ) async throws {
        try await withMembers { owner, members, asked in
            // The other request is to end while this test waits.
            let options = RequestOptions(timeout: .seconds(isIdempotent ? 3600 : 10), isIdempotent: isIdempotent)
            let isOver = Locked(false)
            let asking = Task { () -> Int in
                defer { isOver.withLock { $0 = true } }
                return try await owner.request("Home:who/are", payload: Int?.none, options: options)
            }
            func wasAsked(_ number: Int) -> Bool {
                FileManager.default.fileExists(atPath: "\(asked.path)/\(number)")
            }
            while !wasAsked(0), !wasAsked(1), !isOver.withLock(\.self) { try await Task.sleep(for: .milliseconds(10)) }
            let (first, other) = wasAsked(0) ? (0, 1) : (1, 0)
            let node = members[first].node
            #expect(try await aside { node.end(by: SIGKILL) } == -SIGKILL)
            if isIdempotent {
                #expect(try await asking.value == other)
            } else {
                let error = await #expect(throws: RunarError.self) { try await asking.value }
                #expect(error?.code == 4004 && !wasAsked(other))
            }
            let next: Int = try await owner.request("Home:who/are", payload: Int?.none)
            #expect(next == other)
        }
    }
}
