internal import CommandModel
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService

// A device that only the laptop can be asked for.
extension DemoStage {
    func admitWatch() async throws -> String {
        let made: InitReport = try await watch.run(["init", "--no-passphrase"])
        note("watch id", made.peerId)
        let token: TokenReport = try await owner.run(["network", "issue", made.peerId, "--label", "watch"])
        let joined: JoinReport = try await watch.run(["join", try fact("network text"), token.text])
        guard joined.isMember else { throw CommandFailure("demo", .software, "the watch is no member") }
        return "by text and token; it uses neither discovery nor a hash table"
    }

    /// Connects the phone to the watch, of which it has no address, through the laptop, to which both are connected.
    func connectOverRelay() async throws -> String {
        _ = try await watch.node.first("ready") { $0.event == "ready" ? true : nil }
        let text: ConnectionTextReport = try await owner.run(["network", "address"])
        let _: ConnectReport = try await watch.run(["connect", text.text])
        let connect = ["connect", try fact("watch id"), "Demo", "--relay"]
        var report: ConnectReport = try await phone.run(connect)
        // For a moment after the admission the connection may have no path yet.
        while !report.relayed, report.address == nil { report = try await phone.run(connect) }
        guard report.relayed, report.relay == (try fact("laptop id")) else {
            let way = report.relay ?? report.address ?? "an unknown member"
            throw CommandFailure("demo", .software, "the phone reached the watch over \(way), not over the laptop")
        }
        return "the laptop relays between the phone and the watch, and cannot read the messages"
    }

    /// Waits until the same connection runs without the laptop between.
    func becomeDirect() async throws -> String {
        let id = try fact("watch id")
        let address = try await phone.node.first("that the watch is reached directly") {
            $0.event == "pathChanged" && $0.peerId == id && $0.relayed == false ? $0.addresses?.first : nil
        }
        return "the phone reaches it at \(address), over the same connection"
    }
}
