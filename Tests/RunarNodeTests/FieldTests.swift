internal import Foundation
internal import Logging
internal import TestSupport
internal import Testing

@testable internal import RunarNode

/// The effect of each field of a configuration that no other suite covers.
@Suite("Fields of a configuration", .timeLimit(.minutes(15))) struct FieldTests {
    // MARK: Defaults

    /// The fields of a table in docs/configuration.md, with their defaults.
    private func documented(_ type: String) throws -> [String: String] {
        let sections = try packageText(named: "docs/configuration.md").components(separatedBy: "\n## ")
        let section = try #require(sections.first { $0.hasPrefix("\(type)\n") })
        var fields: [String: String] = [:]
        for line in section.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
            fields[cells[0]] = cells[1]
        }
        return fields
    }

    /// The stored fields of a configuration, with their values.
    private func fields(of config: Any) -> [String: String] {
        var fields: [String: String] = [:]
        for child in Mirror(reflecting: config).children {
            guard let label = child.label else { continue }
            let value = Mirror(reflecting: child.value)
            let isOptional = value.displayStyle == .optional
            fields[label] = isOptional ? value.children.first.map { "\($0.value)" } ?? "nil" : "\(child.value)"
        }
        return fields
    }

    @Test func `the documents list every field, and what it is at first`() throws {
        let config = RunarNodeConfig(nodeId: "given", defaultNetworkId: "given")
        var node = self.fields(of: config)
        node["logLevel"] = "\(config.logLevel)"
        node["requestTimeout"] = "\(config.requestTimeout)"
        #expect(config.discoveryGroups == .standard && config.dhtPolicy == DHTPolicy())
        (node["discoveryGroups"], node["dhtPolicy"]) = ("standard", "DHTPolicy()")
        #expect(try self.documented("RunarNodeConfig") == node)
        #expect(try self.documented("RunarNetworkConfig") == self.fields(of: RunarNetworkConfig()))
        let keychain = self.fields(of: RunarKeychainConfig(serviceName: "given"))
        #expect(try self.documented("RunarKeychainConfig") == keychain)
    }

    @Test func `the documents' numbers are those of the code`() throws {
        let text = try packageText(named: "docs/configuration.md")
        let words = Set(text.split { $0.isWhitespace || ",.;".contains($0) }.map(String.init))
        for level in RunarLogLevel.allCases { #expect(text.contains("\(level) \(level.rawValue)"), "\(level)") }
        for state in KeychainAccessible.allCases {
            #expect(words.contains("\(state)") && text.contains("\(state) \(state.rawValue)"), "\(state)")
        }
    }

    // MARK: Effects

    @Test func `a request that names no deadline has the configuration's`() async throws {
        let node = try Household().makeNode { $0.requestTimeoutMs = 20 }
        try await node.start()
        let (ends, ended) = AsyncStream.makeStream(of: Bool.self)
        let slow = RunarService(name: "Slow", path: "slow", version: "1", description: "")
        slow.registerAction("wait") { (_: Int?) async throws -> Int in
            do { try await suspendUntilCancelled() } catch { ended.yield(Task.isCancelled) }
            return 1
        }
        try await node.addService(slow)
        let late = await failure { let _: Int = try await node.request("slow/wait", payload: 1) }
        #expect((late as? RunarError)?.code == 4004)
        #expect(try await ends.first { _ in true })
        await node.stop()
        #expect(throws: RunarError.self) { try Household().makeNode { $0.requestTimeoutMs = 0 } }
    }

    @Test func `each subsystem logs at its own level, the others at the node's`() throws {
        let node = try Household().makeNode { config in
            config.logLevel = .warn
            config.logLevels = [.discovery: .trace]
        }
        #expect(LogSubsystem.allCases.allSatisfy { node.logs[$0].logLevel == ($0 == .discovery ? .trace : .warning) })
    }

    @Test func `larger messages than the limit are refused, and a full listener says so`() async throws {
        let household = Household()
        let owner = try household.makeNode { config in
            config.messageByteLimit = 64
            config.listenerCapacity = 2
            config.peerTimeout = .seconds(60)
        }
        let member = try household.makeNode { config in
            config.messageByteLimit = 64
            config.peerTimeout = .seconds(60)
        }
        let network = try owner.createNetwork(name: "Home").networkId
        for node in [owner, member] { try await node.start() }
        try await member.join(by: owner.invite(to: network, isPreallowed: true))
        let inbox = owner.startListening()
        let large = await failure {
            try await member.sendToPeer([UInt8](repeating: 1, count: 65), peerId: owner.peerId)
        }
        guard case .tooLarge(limit: 64, found: _)? = large as? NodeError else { throw large ?? CancellationError() }
        for number in UInt8(0)..<2 { try await member.sendToPeer(number, peerId: owner.peerId) }
        let busy = await failure { try await member.sendToPeer(UInt8(2), peerId: owner.peerId) }
        #expect(busy as? NodeError == .receiverBusy(owner.peerId))
        _ = inbox
        for node in [owner, member] { await node.stop() }
    }

    @Test func `a peer that does not answer is waited for as long as the configuration says`() async throws {
        let household = Household()
        let owner = try household.makeNode()
        let member = try household.makeNode { $0.peerTimeout = .milliseconds(20) }
        let network = try owner.createNetwork(name: "Home").networkId
        for node in [owner, member] { try await node.start() }
        let token = try owner.issueToken(for: member.peerId, in: network, expiration: nil)
        try await member.joinNetwork(networkId: network, accessToken: token)
        let (there, here) = (try #require(owner.listenAddresses.first), try #require(member.listenAddresses.first))
        household.network.partition(there, from: here)
        let error = await failure {
            try await member.connectToPeer(peerId: owner.peerId, networkId: network, address: there.description)
        }
        #expect(error as? NodeError == .timedOut(owner.peerId), "\(String(describing: error))")
        for node in [owner, member] { await node.stop() }
    }

    @Test func `without an age nothing is cached, and the policy is that of requests that name none`() async throws {
        let household = Household()
        let owner = try household.makeNode { $0.cacheAge = .zero }
        let member = try household.makeNode { $0.dhtPolicy.deadline = .zero }
        let network = try owner.createNetwork(name: "Home").networkId
        for node in [owner, member] { try await node.start() }
        try await member.join(by: owner.invite(to: network, isPreallowed: true))
        let (key, patient) = (Data([1]), DHTPolicy(deadline: .seconds(60)))
        let (there, here) = (try #require(owner.listenAddresses.first), try #require(member.listenAddresses.first))
        // No answer can come before the deadline is noticed.
        household.network.partition(there, from: here)
        await #expect(throws: (any Error).self) {
            try await member.dhtPut(networkId: network, key: key, value: Data([1]))
        }
        household.network.heal(there, with: here)
        try await member.dhtPut(networkId: network, key: key, value: Data([2]), policy: patient)
        #expect(try await owner.dhtGet(networkId: network, key: key, policy: patient) == Data([2]))
        #expect(owner.cached([UInt8](key), in: network) == nil)
        for node in [owner, member] { await node.stop() }
    }

    @Test func `a node without IPv6 that is to listen there alone is refused`() throws {
        let config = RunarNodeConfig.createTestConfig()
        config.listenAddresses = [SocketAddress(.v6(high: 0, low: 1, scope: 0), port: 0)]
        config.networkConfig = RunarNetworkConfig()
        config.networkConfig?.enableIPv6 = false
        let error = #expect(throws: RunarError.self) { try RunarNode(config: config) }
        #expect(error?.message.contains("enableIPv6") == true)
    }
}
