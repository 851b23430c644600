internal import Concurrency
internal import Transport

extension Scenario {
    /// Scenarios of `whenStopped(_:)`: a handler is notified without reading or writing.
    static let stops = [
        Scenario("who neither reads nor writes hears that the peer gave the stream up") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                try await opened.write([2], finish: true)
                _ = try await readAll(taken)
                let call = Call()
                taken.whenStopped { call.note($0) }
                opened.reset(code: 6)
                try checkEqual(await call.error(), .stopped(code: 6), "what it hears")
                try checkEqual(call.count, 1, "how often")
            }
        },
        Scenario("who asks too late hears at once that the peer gave the stream up") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                opened.reset(code: 6)
                try checkEqual(try await writeFailure(of: taken), .stopped(code: 6), "a write")
                let call = Call()
                taken.whenStopped { call.note($0) }
                try checkEqual(call.count, 1, "how often it heard at once")
            }
        },
        Scenario("who neither reads nor writes hears of the end of the connection") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                let (far, near) = (Call(), Call())
                taken.whenStopped { far.note($0) }
                opened.whenStopped { near.note($0) }
                dialled.close(code: 8, reason: "enough")
                try checkEqual(await far.error(), .closed(code: 8, reason: "enough"), "what the other side hears")
                try checkEqual(await near.error(), .closed(code: 8, reason: "enough"), "what this side hears")
            }
        },
        Scenario("who gave a stream up itself is told so, unless it takes that back") { kit in
            try await kit.withConnection { dialled, accepted in
                let (opened, taken) = try await openStream(from: dialled, to: accepted)
                let (call, other) = (Call(), Call())
                opened.whenStopped { other.note($0) }
                opened.whenStopped { call.note($0) }
                taken.whenStopped { other.note($0) }
                taken.whenStopped(nil)
                opened.reset(code: 4)
                try checkEqual(await call.error(), .stopped(code: 4), "what it hears")
                try checkEqual(try await writeFailure(of: taken), .stopped(code: 4), "the writer across")
                try checkEqual(other.count, 0, "calls of handlers that were taken back")
            }
        },
    ]
}

/// The errors that a handler received.
private final class Call: Sendable {
    private let errors = Locked<[TransportError]>([])
    private let heard = ConditionVariable()

    func note(_ error: TransportError) {
        errors.withLock { $0.append(error) }
        heard.broadcast()
    }

    var count: Int { errors.withLock { $0.count } }

    /// The first error, once there is one.
    func error() async -> TransportError? {
        try? await heard.wait { errors.withLock { $0.first } }  // nil: the test was cancelled
    }
}
