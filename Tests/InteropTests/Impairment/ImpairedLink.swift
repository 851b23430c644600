internal import Concurrency
internal import Foundation
internal import Transport

/// A UDP proxy on 127.0.0.1 between one dialler and one server that applies an ``Impairment`` to datagrams.
///
/// Randomness is seeded; the fate of each datagram still depends on timing, because timing determines the datagrams. Held
/// datagrams leave when four others have passed or nothing arrived for two milliseconds.
final class ImpairedLink: Sendable {
    /// The port to dial instead of the server's.
    let port: UInt16

    private let shared: Locked<Shared>

    private struct Shared {
        var counts = ProxyCounts()
        var isStopped = false
    }

    /// Begins to pass datagrams between the client that sends to ``port`` and the server on `serverPort`.
    init(to serverPort: UInt16, _ impairment: Impairment, seed: UInt64) throws {
        let shared = Locked(Shared())
        let prepared = try LinkRunner(serverPort: serverPort, impairment: impairment, seed: seed)
        port = prepared.near.port
        self.shared = shared
        let thread = Thread {
            var runner = prepared
            while true {
                runner.pass()
                let isStopped = shared.withLock { state in
                    state.counts = runner.counts
                    return state.isStopped
                }
                if isStopped { return }
            }
        }
        thread.start()
    }

    deinit {
        shared.withLock { $0.isStopped = true }
    }

    /// The counts so far.
    var counts: ProxyCounts { shared.withLock { $0.counts } }
}
