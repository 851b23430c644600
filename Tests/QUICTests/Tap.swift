internal import CQUICShim
internal import Concurrency
internal import Foundation
internal import Identity
internal import Transport

@testable internal import QUIC

/// A router between one dialler and one server that records datagrams and can stop passing them on.
@safe
final class Tap: @unchecked Sendable {
    /// A datagram that passed.
    struct Passed: Sendable {
        var bytes: [UInt8]
        var mark: UInt8
        var isFromDialler: Bool
        /// Whether it was passed on.
        var isForwarded: Bool

        /// Whether it has the header of a packet after the handshake.
        var isShort: Bool { (bytes.first ?? 0x80) & 0x80 == 0 }
    }

    /// A change that a tap makes to passing datagrams.
    enum Impairment: Sendable {
        case none
        /// ECN marks are cleared.
        case bleached
        /// Nothing longer than 1 300 bytes passes.
        case narrow
    }

    private struct State: Sendable {
        var passed: [Passed] = []
        var dialler: SocketAddress?
        var isHolding = false
        var impairment: Impairment
        var isStopped = false
    }

    private let server: SocketAddress
    private let front: RawSocket
    private let back: RawSocket
    private let waker: Waker
    private let state: Locked<State>
    /// The notifier of datagrams that were added to ``passed``.
    private let arrivals = ConditionVariable()

    /// Begins to pass datagrams between `server` and the endpoint that dials ``address``.
    init(to server: SocketAddress, on host: String = "127.0.0.1", _ impairment: Impairment = .none) throws {
        self.server = server
        front = try RawSocket(on: host)
        back = try RawSocket(on: host)
        guard let waker = Waker() else { throw TransportError.initializationFailed("no event descriptor") }
        self.waker = waker
        state = Locked(State(impairment: impairment))
        Thread { [front, back, waker, state, arrivals] in
            while !state.withLock({ $0.isStopped }) {
                Self.pass(front.received(), isFromDialler: true, on: back, state, arrivals) { _ in server }
                Self.pass(back.received(), isFromDialler: false, on: front, state, arrivals) { $0.dialler }
                let sockets = unsafe [front.raw, back.raw] as [OpaquePointer?]
                var readable = unsafe [Bool](repeating: false, count: sockets.count)
                unsafe rq_waker_wait(waker.raw, sockets, sockets.count, 50_000_000, &readable)
            }
        }.start()
    }

    deinit {
        state.withLock { $0.isStopped = true }
        waker.wake()
    }

    /// The address to dial in place of the server's.
    var address: SocketAddress { front.address }

    /// All datagrams that passed.
    var passed: [Passed] { state.withLock { $0.passed } }

    /// From now on nothing is passed on.
    func hold() {
        state.withLock { $0.isHolding = true }
    }

    /// The first datagram, after `count` others, that `condition` holds for, however long it takes.
    func first(after count: Int = 0, where condition: @Sendable (Passed) -> Bool) async throws -> Passed {
        try await arrivals.wait { state.withLock { $0.passed.dropFirst(count).first(where: condition) } }
    }

    /// Returns the packets that one side sends in answer to `datagrams` that seem to be sent by the other.
    ///
    /// Call it only while nothing is passed on. Silence cannot be awaited, but a request that is always answered is the last
    /// one.
    func answers(to datagrams: [[UInt8]], fromDialler isAskingDialler: Bool) async throws -> [[UInt8]] {
        let (before, dialler) = state.withLock { ($0.passed.count, $0.dialler) }
        for datagram in datagrams + [RawSocket.question] {
            if isAskingDialler, let dialler { front.send(datagram, to: dialler) }
            if !isAskingDialler { back.send(datagram, to: server) }
        }
        return try await arrivals.wait {
            let answers = passed[before...].filter { $0.isFromDialler == isAskingDialler }.map(\.bytes)
            return answers.firstIndex(where: RawSocket.isAnswer).map { Array(answers[..<$0]) }
        }
    }

    private static func pass(
        _ datagrams: [RawSocket.Arrival],
        isFromDialler: Bool,
        on socket: RawSocket,
        _ state: Locked<State>,
        _ arrivals: ConditionVariable,
        to remote: (State) -> SocketAddress?
    ) {
        for datagram in datagrams {
            let (target, mark) = state.withLock { state in
                if isFromDialler { state.dialler = datagram.source }
                let isTooLong = state.impairment == .narrow && datagram.bytes.count > 1300
                let target = state.isHolding || isTooLong ? nil : remote(state)
                state.passed.append(
                    Passed(
                        bytes: datagram.bytes,
                        mark: datagram.mark,
                        isFromDialler: isFromDialler,
                        isForwarded: target != nil
                    )
                )
                return (target, state.impairment == .bleached ? 0 : datagram.mark)
            }
            if let target { socket.send(datagram.bytes, to: target, mark: mark) }
            arrivals.broadcast()
        }
    }
}
