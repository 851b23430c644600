internal import CommandModel
internal import Concurrency
internal import Foundation
internal import Gateway
internal import NodeModel
internal import NodeService
internal import Platform

// A token of an issuer, and the tunnel that a gateway gives for it.
extension DemoStage {
    func startIssuer(_ group: inout DiscardingTaskGroup) throws {
        try exit.makeCertificate()
        let place = ["issuer", "serve", "--data", exit.path("issuer"), "--issuer-name", "issuer.example"]
        let options = exit.options(of: DemoSpaces.gatewayAddress, port: 8451)
        try exit.gateway.start(place + options, into: exit.issuerLog, &group)
    }

    func waitForIssuer() async throws -> String {
        _ = try await exit.issuerLog.first("ready") { $0.event == "ready" ? true : nil }
        let arguments = ["issuer", "voucher", "--data", exit.path("issuer"), "--allowance", "200"]
        let report: VoucherReport = try await exit.gateway.run(arguments)
        guard let voucher = report.vouchers.first else {
            throw CommandFailure("demo", .software, "the issuer made no voucher")
        }
        try AtomicFile.write(Array(voucher.utf8), to: exit.path("voucher"))
        return "with a new key; a voucher for \(report.allowance) tokens was made"
    }

    func startGateway(_ group: inout DiscardingTaskGroup) throws {
        let place = ["gateway", "serve", "--data", exit.path("gateway"), "--public-url", DemoExit.gatewayURL]
        let network = [
            "--listen-address", DemoSpaces.gatewayAddress, "--port", "8443", "--endpoint",
            "\(DemoSpaces.gatewayAddress):51820", "--uplink", DemoSpaces.uplink,
        ]
        let issuer = ["--issuer", DemoExit.issuerURL, "--issuer-trust", exit.path("roots.pem")]
        let location = [
            "--exit-name", DemoExit.exitName, "--location-id", DemoExit.location, "--location-name", "Demo",
            "--country", "US", "--latitude", "0", "--longitude", "0",
        ]
        try exit.gateway.start(place + network + issuer + location, into: exit.gateway.node, &group)
    }

    func waitForGateway() async throws -> String {
        let key = try await exit.gateway.node.first("ready") { $0.event == "ready" ? $0.key : nil }
        let arguments = [
            "gateway", "roster", "--operator-key", exit.path("operator"), "--exit-name", DemoExit.exitName,
            "--issuer", DemoExit.issuerURL, "--key", key, "--to", exit.path("roster.json"),
        ]
        let report: RosterReport = try await exit.gateway.run(arguments)
        note("operator key", report.operatorKey)
        return "with a tunnel; the operator's roster lists its key"
    }

    func startDirectory(_ group: inout DiscardingTaskGroup) throws {
        try exit.writeTrust()
        let arguments = [
            "gateway", "directory", "--roster", exit.path("roster.json"), "--gateway", DemoExit.gatewayURL, "--trust",
            exit.path("trust.pem"),
        ]
        let options = exit.options(of: DemoSpaces.gatewayAddress, port: 8444)
        try exit.gateway.start(arguments + options, into: exit.directoryLog, &group)
        let page = exit.options(of: DemoSpaces.pageAddress, port: 8443)
        try exit.page.start(["demo-page", "serve"] + page, into: exit.page.node, &group)
    }

    func waitForDirectory() async throws -> String {
        _ = try await exit.directoryLog.first("ready") { $0.event == "ready" ? true : nil }
        _ = try await exit.page.node.first("ready") { $0.event == "ready" ? true : nil }
        guard try await fetchPage() == nil else {
            throw CommandFailure("demo", .software, "the client reaches the page server without a tunnel")
        }
        return "the client cannot reach the page server yet"
    }

    func startTunnel(_ group: inout DiscardingTaskGroup) throws {
        let arguments = [
            "vpn", "connect", DemoExit.location, "--exit", DemoExit.directoryURL, "--operator",
            try fact("operator key"), "--issuer-roots", exit.path("roots.pem"), "--voucher", exit.path("voucher"),
            "--now", "--data", exit.path("vpn"),
        ]
        try exit.client.start(arguments, into: exit.client.node, &group)
    }

    func waitForTunnel() async throws -> String {
        let tokens = try await exit.client.node.first("the tunnel") { line -> Result<Int, CommandFailure>? in
            switch line.state {
            case "connected": .success(line.tokens ?? 0)
            case "failed": .failure(CommandFailure("demo", .software, line.reason ?? "the client failed"))
            default: nil
            }
        }.get()
        let peers = ["gateway", "peers", "--data", exit.path("gateway")]
        let report: GatewayClientsReport = try await exit.gateway.run(peers)
        let count = report.clients.count
        guard count == 1 else { throw CommandFailure("demo", .software, "the gateway has \(count) leases") }
        return "the gateway has one lease, and the client has \(tokens) tokens left"
    }

    /// Reads the page by a new connection of the client, and compares the address that the server has seen.
    func readPage() async throws -> String {
        guard let page = try await fetchPage() else {
            throw CommandFailure("demo", .software, "the page server cannot be reached through the tunnel")
        }
        guard page.client == DemoSpaces.uplinkAddress else {
            throw CommandFailure("demo", .software, "the page server saw \(page.client), not the gateway")
        }
        return "its server, which has no route to the client, saw the gateway's address \(page.client)"
    }

    /// Fetches the page in a process of the client; nil if the server cannot be reached.
    private func fetchPage() async throws -> DemoPageReport? {
        do {
            return try await exit.client.run(
                ["demo-page", "get", DemoExit.pageURL, "--roots", exit.path("roots.pem")]
            )
        } catch let failure as CommandFailure where failure.status == .unavailable {
            return nil
        }
    }
}
