internal import Transport

extension Scenario {
    /// Scenarios of `delivered()`: when it returns, the bytes have arrived.
    static let deliveries = [
        Scenario("who closes once what was written is delivered takes none of it back") { kit in
            for round in 0..<20 {
                try await kit.withConnection { dialled, accepted in
                    let (opened, taken) = try await openStream(from: dialled, to: accepted)
                    let bytes = pattern(kit.maximumUnreadBytes / 4, seed: UInt64(round))
                    try await opened.write(bytes, finish: false)
                    try await opened.delivered()
                    dialled.close(code: 0, reason: "")
                    _ = await accepted.closed()
                    try checkEqual(try await read(bytes.count, from: taken), bytes, "what is read after the end")
                }
            }
        },
        Scenario("a stream that nothing was written to has nothing to deliver") { kit in
            try await kit.withConnection { dialled, _ in try await dialled.openStream().delivered() }
        },
    ]
}
