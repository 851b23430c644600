internal import CommandModel
internal import Foundation
internal import NodeModel
internal import NodeService
internal import Platform

// Refused outsiders and removed members.
extension DemoStage {
    func refuseNoToken() async throws -> String {
        try await refuse(token: "", because: "no access token")
    }

    func refuseExpired() async throws -> String {
        let hourAgo = SystemProcess.wallSeconds - 3600
        let report: TokenReport = try await owner.run(
            ["network", "issue", try fact("outsider id"), "--expires-at", String(hourAgo)])
        return try await refuse(token: report.text, because: "expired")
    }

    func refuseOtherPeer() async throws -> String {
        try await refuse(token: try fact("phone token"), because: "another peer")
    }

    func refuseOtherNetwork() async throws -> String {
        let _: NetworkReport = try await outsider.run(["network", "create", "Elsewhere"])
        let report: TokenReport = try await outsider.run(["network", "issue", try fact("outsider id")])
        return try await refuse(token: report.text, because: "network")
    }

    /// Shows `token` to the owner's node by an outsider, and takes the reason of the refusal from that node's own output.
    private func refuse(token: String, by outsider: DemoDevice? = nil, because words: String) async throws -> String {
        let outsider = outsider ?? self.outsider
        let id = try fact("\(outsider.name) id")
        let position = owner.node.position
        let report: OutsiderReport = try await outsider.run(
            ["outsider", try fact("laptop id"), try fact("laptop address")],
            input: token
        )
        let reason = try await owner.node.first("refused, with the reason", after: position) {
            $0.event == "refused" && $0.peerId == id ? $0.reason ?? "" : nil
        }
        guard reason.contains(words) else {
            throw CommandFailure("demo", .software, "the reason differs: \(reason)")
        }
        guard !report.admitted, let code = report.closeCode else {
            throw CommandFailure("demo", .software, "the outsider was not refused")
        }
        return "\(reason) [told: \(code)]"
    }

    func revoke() async throws -> String {
        let id = try fact("server id")
        note("old secret", try await secretDates(of: members).joined(separator: ","))
        let positions = members.map(\.node.position)
        let started = ContinuousClock.now
        let _: RevocationReport = try await owner.run(["network", "revoke", id, "--yes"])
        let reason = try await server.node.first("its membership ended", after: positions[2]) { line -> String? in
            switch line.event {
            case "membershipEnded", "peerLeft", "refusedByPeer":
                line.reason.flatMap { $0.contains("revoked") ? $0 : nil }
            default: nil
            }
        }
        let cut = started.duration(to: .now).milliseconds
        _ = try await phone.node.first("the revocation", after: positions[1]) {
            $0.event == "revoked" && $0.peerId == id ? true : nil
        }
        _ = try await phone.node.first("that the server is gone", after: positions[1]) {
            $0.event == "peerLeft" && $0.peerId == id ? true : nil
        }
        return "the server says \"\(reason)\" after \(cut) ms, the phone was notified and disconnected it too"
    }

    func refuseRevoked() async throws -> String {
        let token = try fact("server token")
        let _: StopReport = try await server.run(["stop"])
        return try await refuse(token: token, by: server, because: "revoked")
    }

    /// After a revocation the members recognise each other by a secret that the revoked one never gets.
    func changeSecret() async throws -> String {
        let old = try fact("old secret").split(separator: ",").map(String.init)
        guard Set(old).count == 1 else {
            throw CommandFailure("demo", .software, "the members had different secrets before: \(old)")
        }
        let deadline = ContinuousClock.now + .seconds(60)
        var dates: [String]
        repeat {
            dates = try await secretDates(of: members)
        } while (dates[0] != dates[1] || dates[0] == old[0]) && ContinuousClock.now < deadline
        guard dates[0] == dates[1], dates[0] > old[0], dates[2] <= old[0] else {
            throw CommandFailure("demo", .software, "secrets since \(old[0]) are now since \(dates)")
        }
        return "laptop and phone have it, the server has the old one"
    }

    /// Returns the creation time of each device's member secret, in seconds since 1970; 0 for none.
    private func secretDates(of devices: [DemoDevice]) async throws -> [String] {
        let network = try fact("network id")
        var dates: [String] = []
        for device in devices {
            let report: NetworkReport = try await device.run(["network", "show", network])
            dates.append(String(report.secretSince ?? 0))
        }
        return dates
    }

    func admitTablet() async throws -> String {
        let report: TokenReport = try await owner.run(["network", "issue", try fact("tablet id")])
        let joined: JoinReport = try await tablet.run(["join"], input: report.text)
        guard joined.isMember else { throw CommandFailure("demo", .software, "the tablet is no member") }
        return "with a token of its own"
    }

    func waitForThief() async throws -> String {
        _ = try await thief.node.first("ready") { $0.event == "ready" ? true : nil }
        return "with all that the server had before it was revoked"
    }

    /// The tablet starts after the copy and connects to all of them, so the copy has had its chance.
    func connectTabletOnly() async throws -> String {
        for device in [owner, phone] {
            try await tablet.joins(device, id: try fact("\(device.name) id"))
            try await device.joins(tablet, id: try fact("tablet id"))
        }
        guard !thief.node.contains(["peerDiscovered", "peerJoined"]) else {
            throw CommandFailure("demo", .software, "the copy of the server has found a member")
        }
        return "the tablet, started after it, is connected to laptop and phone; the copy has discovered no member"
    }
}
