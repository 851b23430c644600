internal import CommandModel
internal import Foundation
internal import NodeModel
internal import NodeService

// Devices, network, tokens, nodes.
extension DemoStage {
    func makeDevices() async throws -> String {
        for device in members + [tablet, outsider] {
            let report: InitReport = try await device.run(["init", "--no-passphrase"])
            note("\(device.name) id", report.peerId)
        }
        return "a key each; the laptop is \(try fact("laptop id").prefix(8))…"
    }

    func createNetwork() async throws -> String {
        let report: NetworkReport = try await owner.run(["network", "create", "Demo"])
        guard let text = report.text else { throw CommandFailure("demo", .software, "the network has no text") }
        note("network id", report.networkId)
        note("network text", text)
        let seen: Inspected = try await outsider.run(["inspect", "-"], input: text)
        guard seen.kind == "network", seen.valid, seen.name == "Demo" else {
            throw CommandFailure("demo", .software, "another process refuses the network's text")
        }
        return "\"Demo\", text of \(text.utf8.count) bytes, checked by another process"
    }

    func issueToken() async throws -> String {
        let peer = try fact("phone id")
        let report: TokenReport = try await owner.run(["network", "issue", peer, "--expires", "30d"])
        let seen: Inspected = try await outsider.run(["inspect", "-"], input: report.text)
        guard seen.kind == "token", seen.valid, seen.peerId == peer else {
            throw CommandFailure("demo", .software, "another process refuses the token")
        }
        note("phone token", report.text)
        return "for 30 days, checked by another process"
    }

    func join() async throws -> String {
        let input = try fact("phone token") + (try fact("network text"))
        let _: JoinReport = try await phone.run(["join"], input: input)
        try await expectMember(phone)
        return "the phone lists the network as a member"
    }

    private func expectMember(_ device: DemoDevice) async throws {
        let list: NetworksReport = try await device.run(["network", "list"])
        let network = try fact("network id")
        guard list.networks.contains(where: { $0.networkId == network && $0.isMember }) else {
            throw CommandFailure("demo", .software, "the \(device.name) does not list the network")
        }
    }

    /// Joins the server by the invitation, which is all that it gets from the laptop.
    func joinByInvitation() async throws -> String {
        let link = try await invitation.first("the invitation") { $0.event == "invited" ? $0.link : nil }
        let output = try await server.output(of: ["join", "--json"], input: link)
        let lines = output.split(separator: "\n").map(String.init)
        let id = try fact("server id")
        let shown = try await invitation.first("who was admitted") {
            $0.event == "admitted" && $0.peerId == id ? $0.digits : nil
        }
        guard let digits = lines.first.flatMap({ EventLine($0)?.digits }), digits == shown else {
            throw CommandFailure("demo", .software, "the two sides show different digits")
        }
        await invitation.waitForEnd()
        try await expectMember(server)
        // For later: the data of an attacker who copied the server's disk.
        try thief.copyHome(of: server)
        // For later, too: a token as genuine as the one of the invitation.
        let report: TokenReport = try await owner.run(["network", "issue", id])
        note("server token", report.text)
        return "link of \(link.utf8.count) characters, pasted into the server; both showed \(digits)"
    }

    func waitForNodes() async throws -> String {
        for device in members {
            let addresses = try await device.node.first("ready") { $0.event == "ready" ? $0.addresses : nil }
            note("\(device.name) address", addresses.first ?? "")
        }
        return "on \(try members.map { try fact("\($0.name) address") }.joined(separator: ", "))"
    }

    func connectMembers() async throws -> String {
        for device in members {
            for other in members where other !== device {
                try await device.waitForConnection(other, id: try fact("\(other.name) id"))
            }
        }
        return "each discovered both others on the loopback interface and was admitted by them"
    }

    func waitForListeners() async throws -> String {
        for device in members {
            _ = try await device.listener.first("listening") { $0.event == "listening" ? true : nil }
        }
        for device in members {
            _ = try await device.subscriber.first("subscribed") { $0.event == "subscribed" ? true : nil }
        }
        return "each prints what arrives, and the events of home/>"
    }
}

extension DemoDevice {
    /// Waits until this device's node has reported that it discovered another one nearby, and that both are admitted.
    func waitForConnection(_ other: DemoDevice, id: String) async throws {
        _ = try await node.first("that it discovers \(other.name)") {
            $0.event == "peerDiscovered" && $0.peerId == id ? true : nil
        }
        try await joins(other, id: id)
    }

    /// Waits until this device's node has reported that it and another one admitted each other.
    func joins(_ other: DemoDevice, id: String) async throws {
        _ = try await node.first("that \(other.name) is connected") {
            $0.event == "peerJoined" && $0.peerId == id ? true : nil
        }
    }
}

/// The output of `runar inspect --json`, as far as the demo looks at it.
private struct Inspected: Decodable {
    let kind: String
    let valid: Bool
    let name: String?
    let peerId: String?

    private enum CodingKeys: String, CodingKey {
        case kind, valid, name
        case peerId = "peer_id"
    }
}
