extension RunarBench {
    /// The measurements of blind tokens and of the handshakes that they admit.
    static func exit(_ order: String, _ words: ArraySlice<String>) async throws {
        let words = Array(words)
        let count = words.last.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        switch (order, words.count, count) {
        case ("issuer", 1, _): try await TokenServers.serveIssuer(words[0])
        case ("gateway", 2, _): try await TokenServers.serveGateway(words[0], issuer: words[1])
        case ("issue", 4, let count?):
            let batch = Int(words[2]) ?? 1
            try await TokenLoad.issue(from: .init(address: words[0], folder: words[1]), count: count, batch: batch)
        case ("redeem", 5, let count?):
            let gateway = TokenLoad.Server(address: words[0], folder: words[1])
            try await TokenLoad.redeem(at: gateway, from: .init(address: words[2], folder: words[3]), count: count)
        case ("anchors", 1, let count?): try TokenAnchors.measure(count: count)
        case ("handshakes", 1, let count?): try TokenHandshakes.measureHandshakes(count: count)
        case ("peers", 1, let count?): try TokenHandshakes.measurePeers(count: count)
        default:
            throw BenchError(
                "usage: exit issuer FOLDER | gateway FOLDER ISSUER | issue ISSUER FOLDER BATCH N | "
                    + "redeem GATEWAY FOLDER ISSUER FOLDER N | anchors|handshakes|peers N"
            )
        }
    }
}
