internal import Transport

extension Scenario {
    static let cancellations = [
        Scenario("accept can be cancelled and loses no connection") { kit in
            try await kit.withEndpoints { first, second in
                for isEarly in [true, false] {
                    let waiting = Task { try await second.accept() != nil }
                    if !isEarly { await yieldOften() }
                    waiting.cancel()
                    try await checkCancelled(waiting, "accept")
                }
                _ = try await connect(first, to: second)
            }
        },
        Scenario("a dial can be cancelled") { kit in
            try await kit.withEndpoints { first, second in
                let silence = try await kit.silentAddress(first)
                for isEarly in [true, false] {
                    let dialling = Task {
                        try await first.connect(to: silence, expecting: second.localPeerId).isDialler
                    }
                    if !isEarly { await yieldOften(5) }
                    dialling.cancel()
                    try await checkCancelled(dialling, "connect")
                }
                _ = try await connect(first, to: second)
            }
        },
        Scenario("dials that are cancelled at any moment leave nothing half open") { kit in
            try await kit.withEndpoints { first, second in
                let target = try address(of: second)
                let server = Task {
                    while let connection = try await second.accept() { _ = await connection.closed() }
                }
                for round in 0..<20 {
                    let dialling = Task { try await first.connect(to: target, expecting: second.localPeerId) }
                    await yieldOften(round)
                    dialling.cancel()
                    // Either is right: cancelled in time, or just too late.
                    if case .success(let connection) = await dialling.result { connection.close(code: 0, reason: "") }
                }
                await second.close(code: 0)
                try await server.value
            }
        },
        Scenario("acceptStream can be cancelled and loses no stream") { kit in
            try await kit.withConnection { dialled, accepted in
                for isEarly in [true, false] {
                    let waiting = Task { try await accepted.acceptStream() != nil }
                    if !isEarly { await yieldOften() }
                    waiting.cancel()
                    try await checkCancelled(waiting, "acceptStream")
                }
                _ = try await openStream(from: dialled, to: accepted)
            }
        },
        Scenario("closed can be cancelled") { kit in
            try await kit.withConnection { dialled, accepted in
                for isEarly in [true, false] {
                    let waiting = Task { await accepted.closed() }
                    if !isEarly { await yieldOften() }
                    waiting.cancel()
                    guard case .misuse = await waiting.value else {
                        throw ConformanceFailure("a wait for the end that was cancelled: \(await waiting.value)")
                    }
                }
                _ = try await openStream(from: dialled, to: accepted)
            }
        },
        Scenario("a read that waits for nothing can be cancelled") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                for isEarly in [true, false] {
                    let waiting = Task { try await taken.read(atMost: 10).bytes }
                    if !isEarly { await yieldOften() }
                    waiting.cancel()
                    try await checkCancelled(waiting, "read")
                }
                try await opened.write([9], finish: true)
                try checkEqual(try await readAll(taken), [9], "the stream after the cancelled reads")
            }
        },
        Scenario("reads that are cancelled at any moment lose no byte") { kit in
            try await kit.withConnection { dialled, accepted in
                let sent = pattern(1 << 19, seed: 5)
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                let writer = Task {
                    // In small pieces with pauses, so that the reader often has to wait.
                    for start in stride(from: 0, to: sent.count, by: 1024) {
                        try await opened.write(Array(sent[start..<start + 1024]), finish: start + 1024 == sent.count)
                        await yieldOften(20)
                    }
                }
                var arrived: [UInt8] = []
                var isFinal = false
                var (round, cancelled) = (0, 0)
                while !isFinal {
                    round += 1
                    let reading = Task { try await taken.read(atMost: 3000) }
                    if !round.isMultiple(of: 3) {
                        await yieldOften(round % 7)
                        reading.cancel()
                    }
                    do {
                        let (bytes, isLast) = try await reading.value
                        arrived += bytes
                        isFinal = isLast
                    } catch is CancellationError {
                        cancelled += 1
                    }
                }
                try await writer.value
                try check(arrived == sent, "\(arrived.count) of \(sent.count) bytes arrived, or in disorder")
                try check(cancelled > 0, "no read was cancelled in \(round); the scenario shows nothing")
            }
        },
        Scenario("writes that are cancelled at any moment queue all of their bytes or none") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                let piece = 16_384
                let sent = pattern(2 * kit.maximumUnreadBytes / piece * piece, seed: 6)
                // The reader begins with the first cancelled write. Before that nothing is read, so that writes wait.
                var reader: Task<[UInt8], any Error>?
                var (start, round) = (0, 0)
                while start < sent.count {
                    round += 1
                    let bytes = Array(sent[start..<start + piece])
                    let isLast = start + piece == sent.count
                    let writing = Task { try await opened.write(bytes, finish: isLast) }
                    if reader == nil || !round.isMultiple(of: 3) {
                        await yieldOften(round % 7)
                        writing.cancel()
                    }
                    do {
                        try await writing.value
                        start += piece
                    } catch is CancellationError {
                        reader = reader ?? Task { try await readAll(taken, atMost: 5000) }
                    }
                }
                let arrived = try await required(reader, "nothing made a writer wait in \(sent.count) bytes").value
                try check(arrived == sent, "what arrived differs from what was written")
            }
        },
        Scenario("a write that waits for its reader can be cancelled") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                let filling = Task { () -> Int in
                    var count = 0
                    // More than any window: this has to wait, and only cancellation ends it.
                    while count <= 2 * kit.maximumUnreadBytes {
                        do {
                            try await opened.write([UInt8](repeating: 7, count: 4096), finish: false)
                        } catch is CancellationError {
                            return count
                        }
                        count += 4096
                    }
                    throw ConformanceFailure("nothing made the writer wait within \(count) bytes")
                }
                await yieldOften(200)
                filling.cancel()
                let written = try await filling.value
                async let arrived = readAll(taken)
                try await opened.write([8], finish: true)
                let bytes = try await arrived
                try checkEqual(bytes.count, written + 1, "what arrived of what was written")
                try checkEqual(bytes.last, 8, "the last byte")
            }
        },
    ]
}

/// Yields to other tasks, without waiting for time to pass.
func yieldOften(_ count: Int = 50) async {
    for _ in 0..<count { await Task.yield() }
}
