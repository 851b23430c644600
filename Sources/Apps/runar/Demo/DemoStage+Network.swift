internal import Foundation

// Devices, network, tokens, nodes.
extension DemoStage {
    func makeDevices() async throws -> String {
        for device in members + [stranger] {
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
        let seen: Inspected = try await stranger.run(["inspect", "-"], input: text)
        guard seen.kind == "network", seen.valid, seen.name == "Demo" else {
            throw CommandFailure("demo", .software, "another process does not find the network's text good")
        }
        return "\"Demo\", text of \(text.utf8.count) bytes, checked by another process"
    }

    func issueTokens() async throws -> String {
        for device in [phone, server] {
            let peer = try fact("\(device.name) id")
            let report: TokenReport = try await owner.run(["network", "issue", peer, "--expires", "30d"])
            let seen: Inspected = try await stranger.run(["inspect", "-"], input: report.text)
            guard seen.kind == "token", seen.valid, seen.peerId == peer else {
                throw CommandFailure("demo", .software, "another process does not find the token good")
            }
            note("\(device.name) token", report.text)
        }
        return "for 30 days, checked by another process"
    }

    func join() async throws -> String {
        let text = try fact("network text")
        // In one order and in the other.
        let pasted = [text + "\n" + (try fact("phone token")), try fact("server token") + text]
        for (device, input) in zip([phone, server], pasted) {
            let _: JoinReport = try await device.run(["join"], input: input)
            let list: NetworksReport = try await device.run(["network", "list"])
            let network = try fact("network id")
            guard list.networks.contains(where: { $0.networkId == network && $0.isMember }) else {
                throw CommandFailure("demo", .software, "the \(device.name) does not list the network")
            }
        }
        return "phone and server list the network as members"
    }

    func waitForNodes() async throws -> String {
        for device in members {
            let addresses = try await device.node.first("ready") { $0.event == "ready" ? $0.addresses : nil }
            note("\(device.name) address", addresses.first ?? "")
        }
        return "on \(try members.map { try fact("\($0.name) address") }.joined(separator: ", "))"
    }

    func connect() async throws -> String {
        for device in members {
            _ = try await device.listener.first("listening") { $0.event == "listening" ? true : nil }
        }
        for (from, to) in [(phone, owner), (server, owner), (server, phone)] {
            let address: ConnectionTextReport = try await to.run(["network", "address"])
            let _: ConnectReport = try await from.run(["connect", "-"], input: address.text)
            let id = try fact("\(from.name) id")
            _ = try await to.node.first("\(from.name) is admitted") {
                $0.event == "peerJoined" && $0.peerId == id ? true : nil
            }
        }
        return "three connections, both ends admitted, as each dialled node says"
    }
}

/// What `runar inspect --json` says, as far as the demo looks at it.
private struct Inspected: Decodable {
    let kind: String
    let valid: Bool
    let name: String?
    let peerId: String?

    private enum CodingKeys: String, CodingKey {
        case kind
        case valid
        case name
        case peerId = "peer_id"
    }
}
