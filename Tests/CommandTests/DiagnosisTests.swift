internal import Foundation
internal import Identity
internal import Testing

@testable import CommandModel
@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

/// Facts in, findings out: each fact that is wrong has its finding, and nothing else changes.
@Suite("Diagnosis") struct DiagnosisTests {
    typealias Step = PeerFacts.Step

    private static let now: UInt64 = 1_800_000_000

    static func step(_ event: String, _ address: String? = nil, reason: String? = nil) -> Step {
        Step(time: now, event: event, address: address, reason: reason, text: event)
    }

    private static let peer = PeerFacts(
        peerIdText: "abcdefghijklmnop",
        label: "phone",
        networks: ["Home"],
        connected: false,
        relayed: false,
        path: nil,
        lastSeen: nil,
        nearby: false,
        addresses: ["198.51.100.7:4433"],
        history: []
    )

    private static func keyUsedTwice(isOwn: Bool) -> KeyUsedTwiceReport {
        KeyUsedTwiceReport(
            peerId: "x",
            peerIdText: "abcdefghijklmnop",
            label: isOwn ? nil : "phone",
            isOwn: isOwn,
            firstSeen: now - 60,
            lastSeen: now,
            addresses: ["198.51.100.7:4433", "198.51.100.8:4433"]
        )
    }

    /// A device with which nothing is wrong.
    private static let healthy = DoctorFacts(
        interfaces: [
            DoctorFacts.Interface(name: "lo", up: true, loopback: true, addresses: ["127.0.0.1"]),
            DoctorFacts.Interface(
                name: "eth0",
                up: true,
                loopback: false,
                addresses: ["192.168.1.2", "2a00::2", "fe80::2"]
            ),
        ],
        multicast: [DoctorFacts.Multicast(interface: "eth0", family: "IPv4", outcome: .heard)],
        wallSeconds: now,
        node: NodeFacts(
            isRunning: true,
            addresses: ["0.0.0.0:4433"],
            isDiscovering: true,
            leftOutInterfaces: [],
            renewsTokens: true,
            networks: [
                NodeFacts.Network(
                    name: "Home",
                    networkId: "x",
                    isOwner: false,
                    isMember: true,
                    expiration: now + 30 * 86_400,
                    isRevoked: false,
                    latestSigned: now - 100
                )
            ],
            peers: [NodeFacts.Peer(peerIdText: "x", relayed: false)],
            mapping: .endpointIndependent,
            isMappingProven: true,
            filtering: "endpointDependent",
            observed: ["203.0.113.9:4433"],
            peer: nil
        )
    )

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let level: Diagnosis.Finding.Level
        let words: String
        let change: @Sendable (inout DoctorFacts) -> Void

        init(
            _ code: String,
            _ level: Diagnosis.Finding.Level,
            _ words: String,
            _ change: @escaping @Sendable (inout DoctorFacts) -> Void
        ) {
            (testDescription, self.level, self.words, self.change) = (code, level, words, change)
        }
    }

    @Test func `a healthy device has no problem and nothing to note`() {
        let diagnosis = Diagnosis(Self.healthy)
        #expect(diagnosis.isHealthy)
        #expect(diagnosis.findings.allSatisfy { $0.level == .ok })
        #expect(
            diagnosis.findings.map(\.code) == [
                "interface", "multicast", "clock", "member", "listening", "peers", "nat-easy", "filter-closed",
            ]
        )
    }

    @Test func `a direct connection makes the notes on IPv6 and filtering superfluous`() {
        var facts = Self.healthy
        facts.interfaces[1] = DoctorFacts.Interface(name: "eth0", up: true, loopback: false, addresses: ["192.168.1.2"])
        facts.node?.filtering = "unknown: no second member"
        let codes = Diagnosis(facts).findings.map(\.code)
        #expect(!codes.contains("no-ipv6") && !codes.contains("filter-unknown"), "\(codes)")
    }

    @Test func `the report ends with a verdict that counts the problems`() {
        #expect(DoctorReport(Diagnosis(Self.healthy)).lines.last == "Everything that was checked works.")
        var facts = Self.healthy
        facts.node?.networks[0].isRevoked = true
        #expect(DoctorReport(Diagnosis(facts)).lines.last == "There is 1 problem: see the line marked PROBLEM.")
    }

    @Test(arguments: [
        Case("no-interface", .problem, "Wi-Fi") { $0.interfaces.removeLast() },
        Case("no-ipv6", .note, "IPv6") {
            $0.interfaces[1] = DoctorFacts.Interface(
                name: "eth0",
                up: true,
                loopback: false,
                addresses: ["192.168.1.2", "fd00::1"]
            )
            $0.node?.peers = [NodeFacts.Peer(peerIdText: "x", relayed: true)]
        },
        Case("multicast-silent", .note, "firewall") {
            $0.multicast[0] = DoctorFacts.Multicast(interface: "eth0", family: "IPv4", outcome: .silent)
        },
        Case("state-not-stored", .problem, "no space is left") { $0.node?.storageProblem = "no space is left" },
        Case("peer-key-used-twice", .problem, "`runar keys renew-device` on the copy") {
            $0.node?.keysUsedTwice = [keyUsedTwice(isOwn: false)]
        },
        Case("peer-key-used-twice", .problem, "phone is used in two places (198.51.100.7:4433, 198.51.100.8:4433)") {
            $0.node?.keysUsedTwice = [keyUsedTwice(isOwn: false)]
        },
        Case("key-used-twice", .problem, "`runar keys renew-device` on the copy") {
            $0.node?.keysUsedTwice = [keyUsedTwice(isOwn: true)]
        },
        Case("key-used-twice", .problem, "`runar reset` on the copy") {
            $0.node?.keysUsedTwice = [keyUsedTwice(isOwn: true)]
            $0.node?.networks[0].isOwner = true
        },
        Case("multicast-refused", .note, "refused to join") {
            $0.multicast[0] = DoctorFacts.Multicast(interface: "eth0", family: "IPv4", outcome: .refused)
        },
        Case("clock-wrong", .problem, "set the clock") {
            $0.wallSeconds = 86_400
            $0.node?.networks[0].expiration = nil
        },
        Case("clock-behind", .problem, "1h") { $0.node?.networks[0].latestSigned = now + 3_600 },
        Case("no-home", .problem, "runar init") { $0.node = nil },
        Case("no-network", .problem, "runar join") { $0.node?.networks = [] },
        Case("no-member", .problem, "invitation") { $0.node?.networks[0].isMember = false },
        Case("revoked", .problem, "runar keys renew-device") { $0.node?.networks[0].isRevoked = true },
        Case("expired", .problem, "new token") { $0.node?.networks[0].expiration = now - 1 },
        Case("expiring", .note, "renews it") { $0.node?.networks[0].expiration = now + 86_400 },
        Case("expiring", .note, "renewTokens is off") {
            $0.node?.networks[0].expiration = now + 86_400
            $0.node?.renewsTokens = false
        },
        Case("not-running", .problem, "runar up") { $0.node?.isRunning = false },
        Case("loopback-only", .problem, "no other device") { $0.node?.addresses = ["127.0.0.1:1", "[::1]:1"] },
        Case("no-discovery", .note, "is off") { $0.node?.isDiscovering = false },
        Case("interfaces-left-out", .note, "32 interfaces, and not on br0, lan7") {
            $0.node?.leftOutInterfaces = ["br0", "lan7"]
        },
        Case("no-member-connected", .note, "runar connect") { $0.node?.peers = [] },
        Case("nat-unknown", .note, "a member elsewhere") { $0.node?.observed = [] },
        Case("no-nat", .ok, "no NAT") { $0.node?.observed = ["192.168.1.2:4433"] },
        Case("nat-hard", .note, "symmetric") { $0.node?.mapping = .endpointDependent },
        Case("nat-hard", .note, "a single member") {
            $0.node?.mapping = .endpointDependent
            $0.node?.isMappingProven = false
        },
        Case("filter-open", .ok, "every member can dial") { $0.node?.filtering = "endpointIndependent" },
        Case("filter-unknown", .note, "a second member") {
            $0.node?.filtering = "unknown: no second member"
            $0.node?.peers = [NodeFacts.Peer(peerIdText: "x", relayed: true)]
        },
        Case("nat-kind-unknown", .note, "two members") { $0.node?.mapping = .unknown },
    ])
    func `each wrong fact has a finding with its advice`(wrong: Case) throws {
        var facts = Self.healthy
        wrong.change(&facts)
        let found = Diagnosis(facts).findings
        let finding = try #require(found.first { $0.code == wrong.testDescription })
        #expect(finding.level == wrong.level)
        #expect("\(finding.message) \(finding.advice ?? "")".contains(wrong.words), "\(finding)")
        #expect(finding.level == .ok || finding.advice != nil || finding.code == "no-ipv6")
        expectNoCommands(facts)
        // Nothing that is still right is called wrong.
        let others = found.filter { $0.code != wrong.testDescription && $0.level != .ok }
        #expect(others.isEmpty, "\(others)")
    }

    @Test(arguments: [
        Case("peer-direct", .ok, "direct") {
            $0.node?.peer?.connected = true
            $0.node?.peer?.path = "direct, at 198.51.100.7:4433"
        },
        Case("peer-relayed", .note, "both NATs") {
            $0.node?.peer?.connected = true
            $0.node?.peer?.relayed = true
            $0.node?.peer?.history = [step("mappings", reason: "endpointDependent/endpointDependent")]
        },
        Case("peer-relayed", .note, "none of the 2 addresses") {
            $0.node?.peer?.connected = true
            $0.node?.peer?.relayed = true
            $0.node?.peer?.history = [step("tried", "a"), step("tried", "b"), step("tried", "a")]
        },
        Case("no-shared-network", .problem, "invite") { $0.node?.peer?.networks = [] },
        Case("no-address", .problem, "runar network address") { $0.node?.peer?.addresses = [] },
        Case("not-tried", .note, "runar send phone") { $0.node?.peer?.history = [] },
        Case("refused-by-peer", .problem, "expired") {
            $0.node?.peer?.history = [step("reached", "a"), step("refusedByPeer", reason: "the token has expired")]
        },
        Case("refused-here", .problem, "revoked") { $0.node?.peer?.history = [step("refusedHere", reason: "revoked")] },
        Case("peer-unreachable", .problem, "198.51.100.7:1, 198.51.100.8:1") {
            $0.node?.peer?.history = ["198.51.100.7:1", "198.51.100.8:1"].map { step("notReached", $0) }
        },
        Case("call-nobodyToAsk", .problem, "third member") {
            $0.node?.peer?.history = [step("notReached", "a"), step("callFailed", reason: "nobodyToAsk")]
        },
        Case("call-notConnected", .problem, "asleep") {
            $0.node?.peer?.history = [step("callFailed", reason: "notConnected")]
        },
        Case("call-refused", .problem, "try again") {
            $0.node?.peer?.history = [step("callFailed", reason: "refused")]
        },
        Case("call-unreachable", .problem, "relays") {
            $0.node?.peer?.history = [step("callFailed", reason: "unreachable")]
        },
    ])
    func `one finding reports the outcome for a peer`(outcome: Case) throws {
        var facts = Self.healthy
        facts.node?.peer = Self.peer
        outcome.change(&facts)
        let added = Diagnosis(facts).findings.dropFirst(Diagnosis(Self.healthy).findings.count)
        #expect(added.map(\.code) == [outcome.testDescription])
        let finding = try #require(added.first)
        #expect(finding.level == outcome.level)
        #expect("\(finding.message) \(finding.advice ?? "")".contains(outcome.words), "\(finding)")
        expectNoCommands(facts)
    }

    /// Expects that findings for the console advise no commands.
    ///
    /// While no node runs, no console exists.
    private func expectNoCommands(_ facts: DoctorFacts) {
        let withoutNode: Set = ["not-running", "no-home", "peer-unknown"]
        for finding in Diagnosis(facts, for: .console).findings where !withoutNode.contains(finding.code) {
            #expect(finding.advice?.contains(/`|--|RUNAR_/) != true, "\(finding)")
        }
    }

    @Test func `an offline device is not called connected or seen by members`() {
        var facts = Self.healthy
        facts.interfaces.removeLast()
        let codes = Diagnosis(facts).findings.map(\.code)
        #expect(codes.contains("no-interface"))
        #expect(Set(codes).isDisjoint(with: ["peers", "no-member-connected", "no-nat", "nat-easy", "filter-closed"]))
    }

    @Test func `no other device is blamed for a failed dial while this one is offline`() throws {
        let peer = try PeerId(rawRepresentation: [UInt8](repeating: 7, count: 32))
        let online = CommandFailure(unreachable: peer, nil, isOffline: false)
        let offline = CommandFailure(unreachable: peer, nil, isOffline: true)
        #expect(online.code == offline.code && online.message.contains("is it online"))
        #expect(offline.message.contains("this device is offline: connect it") && !offline.message.contains("is it"))
    }

    @Test func `the report of an offline device omits what was observed while it was online`() {
        var facts = Self.healthy
        let online = DoctorReport(Diagnosis(facts))
        #expect(online.mapping != nil && online.observed != nil)
        facts.interfaces.removeLast()
        let offline = DoctorReport(Diagnosis(facts))
        #expect(offline.mapping == nil && offline.filtering == nil && offline.observed == nil)
    }

    @Test func `a peer is reported as unknown while no node runs`() {
        var facts = Self.healthy
        facts.node?.isRunning = false
        facts.askedPeer = "phone"
        #expect(Diagnosis(facts).findings.last?.code == "peer-unknown")
    }
}
