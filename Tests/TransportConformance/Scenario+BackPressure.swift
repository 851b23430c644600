internal import Concurrency
internal import Transport

extension Scenario {
    static let backPressure = [
        Scenario("a slow reader bounds the writer and stalls no other stream") { kit in
            try await kit.withConnection { dialled, accepted in
                let (slow, slowTaken) = try await openStream(from: dialled, to: accepted)
                let total = 4 * kit.maximumUnreadBytes
                let written = Locked(0)
                let writer = Task {
                    let piece = [UInt8](repeating: 1, count: 16_384)
                    for start in stride(from: 0, to: total, by: piece.count) {
                        try await slow.write(piece, finish: start + piece.count >= total)
                        written.withLock { $0 += piece.count }
                    }
                }
                async let server: Void = serveEchoes(on: accepted)
                // Echoes in parallel to the slow stream give the writer time for much more than its window.
                for round in 0..<200 {
                    try await checkEcho(of: pattern(20_000, seed: UInt64(round)), on: dialled)
                }
                var count = 0
                var isFinal = false
                while !isFinal {
                    let ahead = written.withLock { $0 } - count
                    try check(ahead <= kit.maximumUnreadBytes, "\(ahead) bytes are written and unread")
                    let (bytes, isLast) = try await slowTaken.read(atMost: 100_000)
                    count += bytes.count
                    isFinal = isLast
                }
                try await writer.value
                try checkEqual(count, (total + 16_383) / 16_384 * 16_384, "what arrived in the end")
                dialled.close(code: 0, reason: "")
                try await server
            }
        },
        Scenario("a second reader or writer is refused as misuse") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                try await checkMisuse("reader") {
                    _ = try await taken.read(atMost: 1)
                } release: {
                    try await opened.write([1], finish: false)
                }
                let piece = [UInt8](repeating: 2, count: 65_536)
                let pieces = 2 * kit.maximumUnreadBytes / piece.count
                let drain = Locked<Task<Void, any Error>?>(nil)
                try await checkMisuse("writer") {
                    // No reader yet: each writer alone waits before its last piece.
                    for _ in 0..<pieces { try await opened.write(piece, finish: false) }
                } release: {
                    let task = Task {
                        while try await !taken.read(atMost: 1 << 20).isFinal {}
                    }
                    drain.withLock { $0 = task }
                }
                drain.withLock { $0 }?.cancel()
            }
        },
        Scenario("what dropped handles leave unread holds no credit back") { kit in
            try await kit.withConnection { dialled, accepted in
                let server = Task {
                    // Each stream is dropped unread.
                    for _ in 0..<100 { _ = try await accepted.acceptStream() }
                }
                for _ in 0..<100 {
                    let stream = try dialled.openStream()
                    do {
                        try await stream.write([UInt8](repeating: 3, count: 131_072), finish: false)
                        _ = try await readFailure(of: stream)
                    } catch TransportError.stopped {
                        // The other side was quicker.
                    }
                }
                try await server.value
                async let echoes: Void = serveEchoes(on: accepted)
                try await checkEcho(of: pattern(1 << 20, seed: 8), on: dialled)
                dialled.close(code: 0, reason: "")
                try await echoes
            }
        },
    ]

    /// Calls `body` from two tasks; one must be refused, and the other must continue once `release` was called.
    private static func checkMisuse(
        _ what: String,
        _ body: @escaping @Sendable () async throws -> Void,
        release: () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: TransportError?.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    do {
                        try await body()
                        return nil
                    } catch let error as TransportError {
                        return error
                    }
                }
            }
            guard case .misuse?? = try await group.next() else {
                throw ConformanceFailure("a second \(what) was not refused as misuse")
            }
            try await release()
            if let error = try await group.next() ?? nil {
                throw ConformanceFailure("the first \(what) did not go on: \(error)")
            }
        }
    }
}
