package import Transport

extension Scenario {
    static let ends = [
        Scenario("a reset reaches the reader and the writer across, from either side") { kit in
            try await kit.withConnection { dialled, accepted in
                for (index, opener) in [dialled, accepted].enumerated() {
                    let acceptor = index == 0 ? accepted : dialled
                    let (opened, taken) = try await openStream(from: opener, to: acceptor)
                    opened.reset(code: 7)
                    try checkEqual(try await readFailure(of: taken), .reset(code: 7), "the reader of a reset stream")
                    try checkEqual(try await writeFailure(of: taken), .stopped(code: 7), "its writer")

                    let (other, otherTaken) = try await openStream(from: opener, to: acceptor)
                    otherTaken.reset(code: 9)
                    try checkEqual(try await readFailure(of: other), .reset(code: 9), "the opener's reader")
                    try checkEqual(try await writeFailure(of: other), .stopped(code: 9), "the opener's writer")
                }
            }
        },
        Scenario("a reset wakes whoever waits across") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                async let reader = readFailure(of: taken)
                async let writer = writeFailure(of: taken)
                await yieldOften()
                opened.reset(code: 3)
                try checkEqual(try await reader, .reset(code: 3), "a read that waits")
                try checkEqual(try await writer, .stopped(code: 3), "a write that waits")
            }
        },
        Scenario("after its own reset a stream neither reads nor writes") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                async let reader = readFailure(of: opened)
                await yieldOften()
                opened.reset(code: 3)
                _ = try await reader
                _ = try await failure(of: "a write after a reset") { try await opened.write([1], finish: false) }
                withExtendedLifetime(taken) {}
            }
        },
        Scenario("a reset of one stream leaves the others alone") { kit in
            try await kit.withConnection { dialled, accepted in
                let (kept, keptTaken) = try await openStream(from: dialled, to: accepted)
                let (lost, lostTaken) = try await openStream(from: dialled, to: accepted)
                lost.reset(code: 1)
                _ = try await readFailure(of: lostTaken)
                try await kept.write([5], finish: true)
                try checkEqual(try await readAll(keptTaken), [5], "the stream beside")
            }
        },
        Scenario("a stream handle that is dropped gives the stream up") { kit in
            try await kit.withConnection { dialled, accepted in
                let taken = try await openStream(from: dialled, to: accepted).accepted
                try checkEqual(try await readFailure(of: taken), .reset(code: 0), "the other side's reader")
                try checkEqual(try await writeFailure(of: taken), .stopped(code: 0), "the other side's writer")
            }
        },
        Scenario("a writer who waits is woken when the reader of a finished stream lets go") { kit in
            try await kit.withConnection { dialled, accepted in
                var opened: (any Stream)? = try dialled.openStream()
                try await opened?.write([1], finish: true)
                let taken = try required(await accepted.acceptStream(), "the stream did not arrive")
                try checkEqual(try await readAll(taken), [1], "what was finished")
                async let writer = writeFailure(of: taken)
                await yieldOften(200)
                opened = nil
                try checkEqual(try await writer, .stopped(code: 0), "the writer")
            }
        },
        Scenario("streams that end unread beside others disturb none of them") { kit in
            try await kit.withConnection { dialled, accepted in
                var opened: [any Stream] = []
                var taken: [any Stream] = []
                for _ in 0..<20 {
                    let pair = try await openStream(from: dialled, to: accepted)
                    opened.append(pair.opened)
                    taken.append(pair.accepted)
                }
                async let echoes: Void = serveEchoes(on: accepted)
                // An echo later all those bytes are acknowledged, and only the ends remain unsent.
                try await checkEcho(of: pattern(1000, seed: 1), on: dialled)
                async let beside: Void = checkEcho(of: pattern(1 << 20, seed: 2), on: dialled)
                for stream in opened { try await stream.write([], finish: true) }
                opened = []
                for stream in taken { try checkEqual(try await readAll(stream), [], "what came before the end") }
                try await beside
                dialled.close(code: 0, reason: "")
                try await echoes
            }
        },
        Scenario("what was finished before the handle was dropped still arrives") { kit in
            try await kit.withConnection { dialled, accepted in
                let sent = pattern(100_000, seed: 10)
                try await dialled.openStream().write(sent, finish: true)
                let taken = try required(await accepted.acceptStream(), "the stream did not arrive")
                try checkEqual(try await readAll(taken), sent, "what was finished")
            }
        },
        Scenario("a connection that nobody holds is closed") { kit in
            try await kit.withEndpoints { first, second in
                let accepted = try await connect(first, to: second).accepted
                try checkClosed(await accepted.closed(), code: 0, "the other side")
            }
        },
        Scenario("a stream keeps its connection open") { kit in
            try await kit.withEndpoints { first, second in
                let streams = try await connectAndOpenStream(first, to: second)
                try await streams.0.write([1], finish: true)
                try checkEqual(try await readAll(streams.1), [1], "a stream without its connection")
            }
        },
        Scenario("bytes that arrived before the end can still be read") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                try await opened.write([1, 2, 3], finish: false)
                try checkEqual(try await read(1, from: taken), [1], "the first byte")
                dialled.close(code: 1, reason: "")
                _ = await accepted.closed()
                try checkEqual(try await read(2, from: taken), [2, 3], "the bytes that came with it")
                try checkClosed(try await readFailure(of: taken), code: 1, "a read after them")
            }
        },
        Scenario("what was delivered before the end can still be read") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
                async let arrived = read(bytes.count, from: taken)
                try await opened.write(bytes, finish: false)
                try await opened.delivered()
                dialled.close(code: 9, reason: "")
                try check(try await arrived == bytes, "bytes that were delivered are lost")
            }
        },
        Scenario("a write after the end is refused as misuse") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                try await opened.write([1], finish: true)
                let error = try await failure(of: "a write after the end") {
                    try await opened.write([2], finish: false)
                }
                guard case .misuse = error else { throw ConformanceFailure("a write after the end: \(error)") }
                withExtendedLifetime(taken) {}
            }
        },
        Scenario("the end of a connection shows its code and reason on both sides") { kit in
            for closerDialled in [true, false] {
                try await kit.withConnection { dialled, accepted in
                    let (closer, other) = closerDialled ? (dialled, accepted) : (accepted, dialled)
                    closer.close(code: 42, reason: "enough")
                    closer.close(code: 43, reason: "too late")
                    let expected = TransportError.closed(code: 42, reason: "enough")
                    try checkEqual(await other.closed(), expected, "the other side")
                    try checkEqual(await closer.closed(), expected, "the closer")
                    try checkEqual(await other.closed(), expected, "the other side, asked again")
                }
            }
        },
        Scenario("a reason that would steer a terminal arrives without what would") { kit in
            try await kit.withConnection { dialled, accepted in
                dialled.close(code: 1, reason: "a\u{1B}[2Jb\u{9B}c\nd\u{202E}e")
                guard case .closed(1, let words) = await accepted.closed() else {
                    throw ConformanceFailure("the end was not the one that was given")
                }
                try checkEqual(words, "a[2Jbcde", "the reason")
            }
        },
        Scenario("a long reason is shortened between characters") { kit in
            try await kit.withConnection { dialled, accepted in
                let reason = "§" + String(repeating: "§☂", count: 400)
                dialled.close(code: 1, reason: reason)
                guard case .closed(1, let words) = await accepted.closed() else {
                    throw ConformanceFailure("the code is wrong")
                }
                try check(reason.hasPrefix(words), "the reason became \(words)")
                try check((200...256).contains(words.utf8.count), "\(words.utf8.count) bytes of the reason arrived")
            }
        },
        Scenario("the end wakes everybody who waits, on both sides") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                let (silent, silentTaken) = try await openStream(from: dialled, to: accepted)
                async let reader = readFailure(of: silent)
                async let otherReader = readFailure(of: silentTaken)
                async let writer = writeFailure(of: opened)
                async let otherWriter = writeFailure(of: taken)
                async let stream = dialled.acceptStream()
                async let otherStream = accepted.acceptStream()
                async let ending = dialled.closed()
                async let sameEnding = dialled.closed()
                async let otherEnding = accepted.closed()
                await yieldOften(200)
                dialled.close(code: 5, reason: "")
                try checkClosed(try await reader, code: 5, "a reader of the closer")
                try checkClosed(try await otherReader, code: 5, "a reader across")
                try checkClosed(try await writer, code: 5, "a writer of the closer")
                try checkClosed(try await otherWriter, code: 5, "a writer across")
                try check(try await stream == nil, "acceptStream of the closer returned a stream")
                try check(try await otherStream == nil, "acceptStream across returned a stream")
                for error in [await ending, await sameEnding, await otherEnding] {
                    try checkClosed(error, code: 5, "closed()")
                }
            }
        },
        Scenario("a connection that is gone opens and exports nothing") { kit in
            try await kit.withConnection { dialled, accepted in
                dialled.close(code: 6, reason: "")
                for connection in [dialled, accepted] {
                    _ = await connection.closed()
                    let opening = try await failure(of: "openStream") { try connection.openStream() }
                    try checkClosed(opening, code: 6, "openStream")
                    let exporting = try await failure(of: "an export") {
                        try connection.exportKeyingMaterial(label: "test", byteCount: 32)
                    }
                    try checkClosed(exporting, code: 6, "an export")
                    try check(try await connection.acceptStream() == nil, "a stream arrived after the end")
                }
            }
        },
        Scenario("an endpoint that closes ends its connections with the code and frees its port") { kit in
            try await kit.withEndpoints { first, second in
                let (dialled, accepted) = try await connect(first, to: second)
                let target = try address(of: second)
                await first.close(code: 11)
                try checkClosed(await accepted.closed(), code: 11, "the other side")
                try check(try await first.accept() == nil, "accept after the end")
                let error = try await failure(of: "a dial after the end") {
                    try await first.connect(to: target, expecting: second.localPeerId)
                }
                try checkEqual(error, .endpointClosed, "a dial after the end")
                await first.close(code: 12)
                withExtendedLifetime(dialled) {}
            }
        },
        Scenario("an endpoint that closes wakes whoever accepts or dials") { kit in
            try await kit.withEndpoints { first, second in
                let silence = try await kit.silentAddress(first)
                async let waiting = first.accept()
                async let dialling = failure(of: "a dial") {
                    try await first.connect(to: silence, expecting: second.localPeerId)
                }
                async let datagrams: Void = first.foreignDatagrams.forEachOne { _ in }
                await first.close(code: 0)
                try check(try await waiting == nil, "accept returned a connection at the end")
                try checkEqual(try await dialling, .endpointClosed, "a dial that waited")
                await datagrams
            }
        },
    ]
}

extension AsyncSequence where Failure == Never {
    /// Calls `body` with each element until the end.
    func forEachOne(_ body: (Element) -> Void) async {
        for await element in self { body(element) }
    }
}

/// Opens a stream on a new connection, and keeps only the stream.
private func connectAndOpenStream(
    _ first: any Endpoint,
    to second: any Endpoint
) async throws -> (any Stream, any Stream) {
    let (dialled, accepted) = try await connect(first, to: second)
    return try await openStream(from: dialled, to: accepted)
}

/// Reads until the transport refuses, and returns why.
package func readFailure(of stream: any Stream) async throws -> TransportError {
    try await failure(of: "a read") {
        while true {
            let (_, isFinal) = try await stream.read(atMost: 65_536)
            if isFinal { return "the end of the stream" }
        }
    }
}

/// Writes until the transport refuses, and returns why.
package func writeFailure(of stream: any Stream) async throws -> TransportError {
    let bytes = [UInt8](repeating: 0x11, count: 16_384)
    return try await failure(of: "a write") {
        for _ in 0..<65_536 { try await stream.write(bytes, finish: false) }
        return "a gigabyte"
    }
}
