internal import Foundation
internal import Logging
internal import TestSupport
internal import Testing

@testable internal import RunarNode

/// Members that are killed while they answer: the system closes their sockets, and no CONNECTION_CLOSE is sent.
@Suite("Members that are killed", .timeLimit(.minutes(15))) struct KillTests {
    /// A node in a process of its own, and the one that offers its service.
    private struct Member: Sendable {
        let home: TemporaryDataDirectory
        let peerId: PeerId
        let address: String
        let node: RunningCommand
        let server: RunningCommand
    }

    /// The traces of the requests to the members.
    private struct Requests: Sendable {
        /// The folder that the first request makes, with a file for each member that received a request.
        let folder: String
        /// The pipe into which the member that received the first request writes its number.
        let first: NamedPipe

        /// Whether a member received a request.
        func reached(_ number: Int) -> Bool { FileManager.default.fileExists(atPath: "\(folder)/\(number)") }
    }

    /// Starts a member whose `who/are` answers its number; the member with the first request takes an hour.
    private func start(
        _ number: Int,
        for owner: RunarNode,
        in network: NetworkMetadata,
        _ requests: Requests
    ) async throws -> Member {
        try await aside {
            let home = try TemporaryDataDirectory()
            let peerId = try PeerId(base64Encoded: home.makeNode())
            let token = try owner.issueToken(for: peerId, in: network.networkId, expiration: nil)
            _ = try home.answer(["join", network.qrString, token.qrString])
            let node = try RunningCommand(["up", "--json"], home: home)
            let addresses = try #require(try node.next("ready")["addresses"] as? [String])
            let mark = "touch '\(requests.folder)/\(number)'"
            let first = "mkdir '\(requests.folder)' && \(mark) && echo \(number) > '\(requests.first.path)'"
            let action = "are=\(first) && exec sleep 3600; \(mark); echo \(number)"
            let server = try RunningCommand(["serve", "--json", "who", action], home: home)
            _ = try server.next("serving")
            let address = try #require(addresses.first)
            return Member(home: home, peerId: peerId, address: address, node: node, server: server)
        }
    }

    /// Runs an owner with two members that offer one service.
    private func withMembers(_ body: (RunarNode, [Member], Requests) async throws -> Void) async throws {
        let config = RunarNodeConfig.createTestConfig()
        config.loggerLevel = .critical
        config.peerTimeout = .seconds(120)
        let owner = try RunarNode(config: config)
        let network = try owner.createNetwork(name: "Home")
        try await owner.start()
        let folder = try TemporaryDataDirectory()
        let requests = Requests(folder: folder.path, first: try NamedPipe(path: folder.path + "-first"))
        var members: [Member] = []
        for number in 0..<2 {
            let member = try await start(number, for: owner, in: network, requests)
            try await owner.connectToPeer(
                peerId: member.peerId,
                networkId: network.networkId,
                address: member.address
            )
            members.append(member)
        }
        try await owner.wait { owner in
            owner.serviceInfos(in: .known(network.networkId)).contains {
                $0.servicePath == "who" && $0.providers.count == 2
            }
        }
        let info: RunarServiceInfo = try await owner.request("Home:$registry/services/who", payload: Int?.none)
        #expect(info.providers.count == 2)
        try await body(owner, members, requests)
        await owner.stop()
        withExtendedLifetime(folder) {}
    }

    @Test(arguments: [true, false])
    func `only a request that may be made twice goes from a member that is killed to another one`(
        isIdempotent: Bool
    ) async throws {
        try await withMembers { owner, members, requests in
            // The other request ends by its time alone, in which a shell must have started in another process.
            let options = RequestOptions(timeout: .seconds(isIdempotent ? 3600 : 20), isIdempotent: isIdempotent)
            let asking = Task { () -> Int in
                // The first line only if no member was asked.
                defer { try? requests.first.write("over") }  // a full pipe has lines enough
                return try await owner.request("Home:who/are", payload: Int?.none, options: options)
            }
            let line = try await requests.first.nextLine()
            let first = try #require(Int(line), "the request ended before a member was asked")
            let other = 1 - first
            let node = members[first].node
            #expect(try await aside { node.end(by: SIGKILL) } == -SIGKILL)
            if isIdempotent {
                #expect(try await asking.value == other)
            } else {
                let error = await #expect(throws: RunarError.self) { try await asking.value }
                #expect(error?.code == 4004 && !requests.reached(other))
            }
            let next: Int = try await owner.request("Home:who/are", payload: Int?.none)
            #expect(next == other)
        }
    }
}
