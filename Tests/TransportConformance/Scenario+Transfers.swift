internal import Transport

extension Scenario {
    static let transfers = [
        Scenario("an echo comes back") { kit in
            try await kit.withConnection { dialled, accepted in
                async let server: Void = serveEchoes(on: accepted)
                try await checkEcho(of: Array("hello".utf8), on: dialled)
                dialled.close(code: 0, reason: "")
                try await server
            }
        },
        Scenario("the side that accepted opens streams as well") { kit in
            try await kit.withConnection { dialled, accepted in
                async let server: Void = serveEchoes(on: dialled)
                try await checkEcho(of: pattern(1000, seed: 1), on: accepted)
                accepted.close(code: 0, reason: "")
                try await server
            }
        },
        Scenario("a large transfer arrives byte for byte in both directions at once") { kit in
            try await kit.withConnection { dialled, accepted in
                let there = pattern(6 << 20, seed: 2)
                let back = pattern(5 << 20, seed: 3)
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                async let arrivedThere = readAll(taken)
                async let arrivedBack = readAll(opened)
                async let writtenThere: Void = writeAll(there, to: opened)
                async let writtenBack: Void = writeAll(back, to: taken, pieces: 10_007)
                try await writtenThere
                try await writtenBack
                try check(try await arrivedThere == there, "what the opener sent arrived differently")
                try check(try await arrivedBack == back, "what the acceptor sent arrived differently")
            }
        },
        Scenario("one direction ends while the other goes on") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                try await opened.write([1, 2, 3], finish: true)
                try checkEqual(try await readAll(taken), [1, 2, 3], "the question")
                try await taken.write([4], finish: false)
                try checkEqual(try await read(1, from: opened), [4], "the first part of the answer")
                try await taken.write([5, 6], finish: true)
                try checkEqual(try await readAll(opened), [5, 6], "the rest of the answer")
            }
        },
        Scenario("many streams at a time do not mix") { kit in
            try await kit.withConnection { dialled, accepted in
                async let first: Void = serveEchoes(on: accepted)
                async let second: Void = serveEchoes(on: dialled)
                try await withThrowingTaskGroup { group in
                    for index in 0..<kit.minimumStreamCount {
                        let connection = index.isMultiple(of: 2) ? dialled : accepted
                        group.addTask {
                            try await checkEcho(of: pattern(3000 + 17 * index, seed: UInt64(index)), on: connection)
                        }
                    }
                    try await group.waitForAll()
                }
                dialled.close(code: 0, reason: "")
                try await first
                try await second
            }
        },
        Scenario("short streams without end use nothing up") { kit in
            try await kit.withConnection { dialled, accepted in
                async let server: Void = serveEchoes(on: accepted)
                for index in 0..<(4 * kit.minimumStreamCount) {
                    try await checkEcho(of: [UInt8(truncatingIfNeeded: index)], on: dialled)
                }
                dialled.close(code: 0, reason: "")
                try await server
            }
        },
        Scenario("more streams than may be open at a time wait their turn") { kit in
            try await kit.withConnection { dialled, accepted in
                async let server: Void = serveEchoes(on: accepted)
                try await withThrowingTaskGroup { group in
                    for index in 0..<(10 * kit.minimumStreamCount) {
                        group.addTask { try await checkEcho(of: pattern(64, seed: UInt64(index)), on: dialled) }
                    }
                    try await group.waitForAll()
                }
                dialled.close(code: 0, reason: "")
                try await server
            }
        },
        Scenario("an empty stream arrives and is final at once") { kit in
            try await kit.withConnection { dialled, accepted in
                let opened = try dialled.openStream()
                try await opened.write([], finish: true)
                let taken = try required(await accepted.acceptStream(), "the empty stream did not arrive")
                for attempt in 1...3 {
                    let (bytes, isFinal) = try await taken.read(atMost: 10)
                    try check(bytes.isEmpty && isFinal, "read \(attempt) returned \(bytes), final: \(isFinal)")
                }
            }
        },
        Scenario("reads keep to their maximum and the last one is final") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                let sent = pattern(1000, seed: 4)
                try await opened.write(sent, finish: true)
                try checkEqual(try await readAll(taken, atMost: 7), sent, "1000 bytes in sevens")
                let (bytes, isFinal) = try await taken.read(atMost: 7)
                try check(bytes.isEmpty && isFinal, "a read after the end returned \(bytes), final: \(isFinal)")
            }
        },
        Scenario("what a stream carried is not disturbed by the streams around it") { kit in
            try await kit.withConnection { dialled, accepted in
                let (first, firstTaken) = try await openStream(from: dialled, to: accepted)
                let (second, secondTaken) = try await openStream(from: dialled, to: accepted)
                try await first.write([1], finish: false)
                try await second.write([2], finish: true)
                try checkEqual(try await readAll(secondTaken), [2], "the second stream")
                try await first.write([3], finish: true)
                try checkEqual(try await readAll(firstTaken), [1, 3], "the first stream")
            }
        },
    ]
}
