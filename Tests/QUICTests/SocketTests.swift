internal import CQUICShim
internal import Identity
internal import Testing
internal import Transport

@testable internal import QUIC

/// The system behaviour that the loop relies on.
///
/// Linux and Apple's systems differ in it, and so do their shim files.
@Suite("Sockets", .timeLimit(.minutes(15))) struct SocketTests {
    @Test(arguments: [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("0.0.0.0", "127.0.0.1"), ("::", "::1")])
    func `a datagram arrives with its mark, its source and the address it was sent to (12, 13)`(
        bound: String,
        asked: String
    ) throws {
        let waker = try #require(Waker())
        let sender = try RawSocket(on: asked)
        let receiver = try RawSocket(on: bound)
        let target = try SocketAddress(parsing: asked.contains(":") ? "[\(asked)]:0" : "\(asked):0")
        let place = try #require(SocketAddress(bytes: target.bytes, port: receiver.address.port))
        for mark in [0, 1, 2, 3] as [UInt8] {
            sender.send([mark, 7], to: place, mark: mark)
            let expected = RawSocket.Arrival(bytes: [mark, 7], source: sender.address, destination: place, mark: mark)
            #expect(receiver.received(or: waker) == [expected])
        }
    }

    @Test(arguments: [(UInt16(80), true, "take a higher one"), (80, false, "a free port"), (8080, true, "a free port")])
    func `a denied port below 1024 is refused with its own advice`(port: UInt16, isDenied: Bool, advice: String) {
        #expect(BindAdvice.text(port: port, isDenied: isDenied).contains(advice))
    }

    @Test func `many datagrams arrive one by one and in order`() throws {
        let waker = try #require(Waker())
        let sender = try RawSocket()
        let receiver = try RawSocket()
        let sent = (0..<100).map { [UInt8($0)] + [UInt8](repeating: 1, count: $0 * 13) }
        for bytes in sent { sender.send(bytes, to: receiver.address) }
        var received: [[UInt8]] = []
        while received.count < sent.count { received += receiver.received(or: waker).map(\.bytes) }
        #expect(received == sent)
    }

    @Test func `a waker that rang ends the next wait, however often it rang`() throws {
        let waker = try #require(Waker())
        let socket = try RawSocket()
        for count in [1, 100_000] {
            for _ in 0..<count { waker.wake() }
            #expect(socket.received(or: waker).isEmpty)
        }
    }
}
