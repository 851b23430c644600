internal import Bytes
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import OneTimeKeys

/// The exchanges of a node with its peers, whose host a test is.
@Suite("Exchanges of keys with all peers") struct KeyExchangesTests {
    private struct Host {
        var exchanges: KeyExchanges
        var now = Duration.zero

        init(_ key: Ed25519KeyPair, secret: UInt8, opening opened: [KeyExchange] = []) {
            let secret = SecretBytes(copying: [UInt8](repeating: secret, count: 32))
            exchanges = KeyExchanges(KeyExchanges.Configuration(signer: key.privateKey, secret: secret))
            _ = handle(.host(.opened(opened)))
        }

        mutating func handle(_ input: KeyExchanges.Input) -> [KeyExchanges.Effect] {
            var effects: [KeyExchanges.Effect] = []
            exchanges.handle(input, at: NodeTime(monotonic: now, wallSeconds: 0), into: &effects)
            return effects
        }
    }

    private let key = generatePeerKey()
    private let peers = (0..<2).map { _ in PeerId(publicKey: generatePeerKey().publicKey) }.sorted()
    private let network = NetworkId(publicKey: generatePeerKey().publicKey)

    private func messages(_ effects: [KeyExchanges.Effect]) -> [[UInt8]] {
        effects.compactMap { effect in
            if case .host(_, .send(let bytes)) = effect { bytes } else { nil }
        }
    }

    private func wake(_ effects: [KeyExchanges.Effect]) -> Duration? {
        for case .wake(let time) in effects.reversed() { return time }
        return nil
    }

    @Test func `an exchange sends its request, reports its state and requests a wake`() {
        var host = Host(key, secret: 1)
        let effects = host.handle(.host(.requested(peers[0])))
        #expect(messages(effects).count == 1)
        #expect(wake(effects) == .seconds(2))
        guard case .host(peers[0], .changed(let status))? = effects.last else {
            Issue.record("\(effects)")
            return
        }
        #expect(status.state == .requestSent)
    }

    @Test func `the earliest exchange decides the wake, and only due ones send`() {
        var host = Host(key, secret: 1)
        _ = host.handle(.host(.requested(peers[0])))
        host.now = .seconds(1)
        #expect(wake(host.handle(.host(.requested(peers[1])))) == nil)
        host.now = .seconds(2)
        let effects = host.handle(.timeReached)
        #expect(messages(effects).count == 1)
        #expect(wake(effects) == .seconds(3))
    }

    @Test func `another host continues an exchange`() {
        var host = Host(key, secret: 1)
        let request = messages(host.handle(.host(.requested(peers[0]))))
        var next = Host(key, secret: 2, opening: host.exchanges.exchanges)
        #expect(messages(next.handle(.memberUp(peers[0], network))) == request)
    }

    @Test func `an admitted peer without an exchange is ignored`() {
        var host = Host(key, secret: 1)
        #expect(host.handle(.memberUp(peers[0], network)).isEmpty)
    }

    @Test func `without an application nothing is answered`() {
        var host = Host(key, secret: 1)
        let request = messages(host.handle(.host(.requested(peers[0]))))
        _ = host.handle(.host(.closed))
        #expect(host.exchanges.exchanges.isEmpty)
        #expect(host.handle(.host(.requested(peers[0]))).isEmpty)
        #expect(host.handle(.host(.messageReceived(from: peers[0], request[0]))).isEmpty)
    }

    @Test func `removed keys leave nothing of an exchange, and the next one has another id`() throws {
        var host = Host(key, secret: 1)
        let first = try KeyExchangeMessage(messages(host.handle(.host(.requested(peers[0]))))[0])
        #expect(host.handle(.host(.removed(peers[0]))) == [.host(peers[0], .removed)])
        host.now = .seconds(10)
        #expect(host.handle(.timeReached).isEmpty)
        let second = try KeyExchangeMessage(messages(host.handle(.host(.requested(peers[0]))))[0])
        #expect(first.exchange != second.exchange)
    }

    @Test func `no nonce is drawn twice`() {
        var source = NonceSource(secret: SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        let nonces = (0..<1_000).map { _ in source.nonce() }
        #expect(Set(nonces).count == nonces.count)
        #expect(nonces.allSatisfy { $0.count == KeyExchangeMessage.nonceByteCount })
    }
}
