internal import Concurrency
internal import QUIC
internal import RunarNode
internal import Transport
internal import Traversal

/// A socket of this machine that answers STUN requests, and records the datagrams received.
final class LocalSTUNServer: Sendable {
    let heard = Locked<[ForeignDatagram]>([])
    /// Whether every datagram is sent back, as by a peer that punches too.
    let isPunching = Locked(false)
    private let endpoint: QUICEndpoint

    private init() throws {
        let loopback = try SocketAddress(parsing: "127.0.0.1:0")
        endpoint = try QUICEndpoint.bind(QUICConfiguration(identity: Ed25519PrivateKey(), addresses: [loopback]))
    }

    var address: SocketAddress { endpoint.localAddresses[0] }

    /// Runs `body` with one that answers all but the first `ignored` datagrams.
    static func run(ignoring ignored: Int = 0, _ body: (LocalSTUNServer) async throws -> Void) async throws {
        let server = try LocalSTUNServer()
        async let served: Void = server.serve(ignoring: ignored)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(server))
        } catch {
            result = .failure(error)
        }
        await server.endpoint.close(code: 0)
        try await served
        try result.get()
    }

    private func serve(ignoring ignored: Int) async throws {
        var server = try STUNServer(primary: address)
        for await datagram in endpoint.foreignDatagrams {
            let count = heard.withLock { heard in
                heard.append(datagram)
                return heard.count
            }
            if isPunching.withLock({ $0 }) { endpoint.sendForeignDatagram(datagram.bytes, to: datagram.source) }
            guard count > ignored,
                let reply = server.reply(to: datagram.bytes, from: datagram.source, at: address, now: .zero)
            else { continue }
            endpoint.sendForeignDatagram(reply.bytes, to: reply.to)
        }
    }
}
