internal import Foundation
internal import TestSupport
internal import Testing

@testable import CommandModel
@testable internal import NodeModel
@testable internal import NodeService

/// Values that one member stores and another reads, with nodes that find each other on loopback.
@Suite("Stored values", .aside, .timeLimit(.minutes(15))) struct RecordTests {
    private let pair: DiscoveringPair

    init() throws {
        pair = try DiscoveringPair()
    }

    @Test func `a stored record is read by the other node byte for byte`() throws {
        try pair.startBoth()
        let stored = try pair.owner.answer(["put", "door/code", "4711"])
        #expect(try stored.json["holders"] as? Int == 1)
        #expect(try pair.phone.runar(["get", "door/code"]).output == "4711")
        let found = try #require(try pair.phone.answer(["get", "door/code"]).json["records"] as? [[String: Any]])
        #expect(found.count == 1 && found[0]["writer"] as? String == pair.ownerId)
        #expect(found[0]["version"] as? UInt64 == (try stored.json["version"] as? UInt64))

        let noText = Data((0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let (file, copy) = (pair.owner.path + "-file", pair.owner.path + "-copy")
        defer { for path in [file, copy] { try? FileManager.default.removeItem(atPath: path) } }  // temporary anyway
        try noText.write(to: URL(filePath: file))
        #expect(try pair.owner.answer(["put", "photo", "--file", file]).json["bytes"] as? Int == 65_536)
        #expect(try pair.phone.answer(["get", "photo", "--output", copy]).text("path") == copy)
        #expect(try Data(contentsOf: URL(filePath: copy)) == noText)
        #expect(try pair.owner.runar(["put", "piped", "--file", "-"], input: "from a pipe\n").status == 0)
        #expect(
            try pair.phone.runar(["get", "7069706564", "--key-format", "hex"]).output
                == "from a pipe\n"
        )
    }

    @Test func `a change with an outdated version is refused`() throws {
        try pair.startBoth()
        let first = try pair.owner.answer(["put", "list", "eggs", "--if-absent"])
        let version = try #require(try first.json["version"] as? UInt64)
        let second = try pair.phone.answer(["put", "list", "eggs, milk", "--if-version", String(version)])
        let newest = try #require(try second.json["version"] as? UInt64)
        #expect(newest > version)
        for condition in [["--if-version", String(version)], ["--if-absent"]] {
            let late = try pair.owner.runar(["put", "list", "bread", "--json"] + condition)
            #expect(late.status == 77)
            #expect(try late.failure["code"] as? String == "conflict")
            let message = try late.failure["message"] as? String
            #expect(message?.contains("stored another value at \(LocalTime(version: newest))") == true)
        }
        // People read the time, programs the version.
        let line = try pair.owner.runar(["get", "list", "--all"]).output
        #expect(line.contains("  \(LocalTime(version: version))  ") && !line.contains("\(version)"))
        #expect(try pair.owner.runar(["get", "list", "--no-cache"]).output == "eggs, milk")
        let all = try #require(try pair.owner.answer(["get", "list", "--all"]).json["records"] as? [[String: Any]])
        #expect(all.compactMap { $0["text"] as? String } == ["eggs, milk", "eggs"])
        #expect(try pair.phone.runar(["get", "list", "--writer", pair.ownerId]).output == "eggs")
    }

    @Test func `a deleted record is not found, which differs from a timeout`() throws {
        try pair.startBoth()
        _ = try pair.owner.answer(["put", "note", "soon gone"])
        #expect(try pair.phone.runar(["get", "note"]).status == 0)
        _ = try pair.owner.answer(["delete", "note"])
        let gone = try pair.phone.runar(["get", "note", "--no-cache", "--json"])
        #expect(gone.status == 66)
        #expect(try gone.failure["code"] as? String == "not-found")
        #expect(try pair.phone.runar(["get", "never"]).errors.contains("runar put"))
        // A connected member that does not answer.
        kill(try #require(pair.ownerNode).id, SIGSTOP)
        let silent = try pair.phone.runar(["get", "never", "--timeout", "1s", "--json"])
        kill(try #require(pair.ownerNode).id, SIGCONT)
        #expect(silent.status == 75)
        #expect(try silent.failure["code"] as? String == "timed-out")
    }

    @Test func `a command without a node finds the members nearby first`() throws {
        try pair.start(.owner)
        let stored = try pair.alone(["put", "from", "the phone", "--json"]) { try $0.json["holders"] as? Int == 1 }
        #expect(stored.status == 0, "\(stored.errors)")
        #expect(try stored.json["holders"] as? Int == 1)
        #expect(try pair.owner.runar(["get", "from"]).output == "the phone")
        _ = try pair.owner.answer(["put", "to", "the phone"])
        #expect(try pair.alone(["get", "to"]) { $0.status == 0 }.output == "the phone")
        func peers(_ outcome: Outcome) throws -> [[String: Any]] {
            try #require(try outcome.json["peers"] as? [[String: Any]])
        }
        let peers = try peers(try pair.alone(["discover", "--json"]) { try !peers($0).isEmpty })
        #expect(peers.map { $0["peerId"] as? String } == [pair.ownerId])
        #expect((peers.first?["sources"] as? [String])?.contains("localNetwork") == true)
    }

    @Test func `a record that was read stays without peers, and a later change is seen`() throws {
        try pair.startBoth()
        func change(to value: String) throws { _ = try pair.phone.answer(["put", "light", value]) }
        try change(to: "on")
        #expect(try pair.owner.runar(["get", "light"]).output == "on")
        // No peer is left to ask; the node still has the value that it read.
        _ = try pair.phone.answer(["stop"])
        #expect(try pair.owner.runar(["get", "light"]).output == "on")
        try pair.start(.phone)
        _ = try pair.phoneNode?.next("peerJoined")
        try change(to: "off")
        #expect(try pair.owner.runar(["get", "light", "--no-cache"]).output == "off")
        _ = try pair.owner.answer(["stop"])
        try pair.start(.owner, ["--cache-age", "0s"])
        _ = try pair.ownerNode?.next("peerJoined")
        for value in ["on", "off"] {
            try change(to: value)
            #expect(try pair.owner.runar(["get", "light"]).output == value)
        }
    }

    @Test func `a value above the limit is refused with the limit, and a lack of peers is reported`() throws {
        let text = String(repeating: "x", count: 65_537)
        let refused = try pair.owner.runar(["put", "big", text, "--json"])
        #expect(refused.status == 65)
        #expect(try (refused.failure["message"] as? String)?.contains("65536") == true)
        let alone = try pair.owner.runar(["get", "nothing", "--json"])
        #expect(alone.status == 69)
        #expect(try alone.failure["code"] as? String == "no-member-reachable")
        #expect(try pair.owner.runar(["put", "mine", "alone"]).output.contains("on this device only"))
        #expect(try pair.owner.runar(["get", "mine"]).output == "alone")
    }

    @Test func `the sources of members and the state of tables are shown`() throws {
        try pair.startBoth()
        let found = try #require(try pair.owner.answer(["discover"]).json["peers"] as? [[String: Any]])
        #expect(found.count == 1 && found[0]["peerId"] as? String == pair.phoneId)
        #expect(found[0]["sources"] as? [String] == ["localNetwork", "hashTable"])
        #expect(found[0]["label"] as? String == "phone")
        #expect((found[0]["addresses"] as? [String])?.first?.hasPrefix("127.0.0.1:") == true)
        let peers = try #require(try pair.owner.answer(["peers"]).json["peers"] as? [[String: Any]])
        #expect(peers.first?["foundBy"] as? [String] == ["localNetwork"])
        let line = try #require(try pair.owner.runar(["peers"]).output.split(separator: "\n").last)
        #expect(line.hasPrefix("phone ") && line.contains(" nearby "))

        // After the search, in which the phone's table has answered.
        _ = try pair.owner.answer(["put", "a", "b"])
        let status = try pair.phone.answer(["status"])
        let discovery = try #require(try status.json["discovery"] as? [String: Any])
        #expect(discovery["interfaces"] as? [String] == ["lo"])
        #expect(discovery["groups"] as? [String] == [pair.group])
        let table = try #require((try status.json["tables"] as? [[String: Any]])?.first)
        #expect(table["members"] as? Int == 1)
        #expect(table["records"] as? Int == 1 && table["ownRecords"] as? Int == 0)
        #expect(try (status.json["expiring"] as? [Any])?.isEmpty == true)
    }

    @Test func `a membership that ends soon gets a warning`() throws {
        let token = try pair.owner.answer(["network", "issue", "phone", "--expires", "3d", "--no-renewal"])
        #expect(try token.json["isRenewable"] as? Bool == false)
        _ = try pair.phone.answer(["join", token.text("text")])
        try pair.start(.phone)
        let expiring = try #require(try pair.phone.answer(["status"]).json["expiring"] as? [[String: Any]])
        #expect(expiring.first?["expiration"] as? Int == (try token.json["expiration"] as? Int))
        #expect(try pair.phone.runar(["status"]).output.contains("warning   the membership in Pair ends"))
    }
}

/// An owner and a phone of its network on loopback, in a discovery group that no other test uses.
final class DiscoveringPair {
    enum Side { case owner, phone }

    let owner: TemporaryDataDirectory
    let phone: TemporaryDataDirectory
    let ownerId: String
    let phoneId: String
    let group = "239.255.42.98:\(QuietPort.next())"
    private(set) var ownerNode: RunningCommand?
    private(set) var phoneNode: RunningCommand?

    init() throws {
        (owner, phone) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        (ownerId, phoneId) = (try owner.makeNode(), try phone.makeNode())
        let text = try owner.answer(["network", "create", "Pair"]).text("text")
        let token = try owner.answer(["network", "issue", phoneId, "--label", "phone"]).text("text")
        _ = try phone.answer(["join", text, token])
    }

    /// The settings with which this pair's nodes find each other and no other node.
    var discovery: [String: String] { ["RUNAR_DISCOVERY": "on", "RUNAR_DISCOVERY_GROUP": group] }

    /// Runs a command of the phone without a node, with discovery.
    ///
    /// Such a command looks for members for three seconds; on a busy machine that may take another run, and another.
    func alone(_ arguments: [String], until hasMet: (Outcome) throws -> Bool) throws -> Outcome {
        var outcome = try phone.runar(arguments, environment: discovery)
        for _ in 0..<20 {
            if try hasMet(outcome) { break }
            outcome = try phone.runar(arguments, environment: discovery)
        }
        return outcome
    }

    func start(_ side: Side, _ options: [String] = []) throws {
        let node = try RunningCommand(
            ["up", "--json"] + options,
            home: side == .owner ? owner : phone,
            environment: discovery
        )
        _ = try node.next("ready")
        if side == .owner { ownerNode = node } else { phoneNode = node }
    }

    /// Starts both nodes and waits until each has met the other.
    func startBoth() throws {
        try start(.owner)
        try start(.phone)
        #expect(try ownerNode?.next("peerJoined")["peerId"] as? String == phoneId)
        #expect(try phoneNode?.next("peerJoined")["peerId"] as? String == ownerId)
    }
}
