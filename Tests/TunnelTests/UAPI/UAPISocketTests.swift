internal import Bytes
internal import Concurrency
internal import CryptoPrimitives
internal import Foundation
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Tunnel

/// A device that records its changes.
final class RecordedDevice: UAPIHandler {
    let state = Locked((device: UAPIDevice(), changes: [UAPIConfiguration]()))

    func device() -> UAPIDevice { state.withLock { $0.device } }

    func apply(_ configuration: UAPIConfiguration) throws(UAPIRefusal) {
        if configuration.listenPort == 1 { throw .portInUse }
        state.withLock { state in
            state.changes.append(configuration)
            if let port = configuration.listenPort { state.device.listenPort = port }
            for peer in configuration.peers { state.device.peers.append(UAPIPeer(publicKey: peer.publicKey)) }
        }
    }
}

/// A configuration server on a thread, which ends with this value.
final class ServingDevice: Sendable {
    let device = RecordedDevice()
    let path: String
    let ended = Promise<Void>()
    private let folder: TemporaryDirectory
    private let stop: DescriptorOwner

    init(
        onlyConnection descriptor: Int32? = nil,
        acceptPause: Duration = UAPIServer.acceptPause,
        accept: @escaping @Sendable (Int32) -> Int32 = UAPIServer.accept
    ) throws {
        folder = try TemporaryDirectory()
        path = folder.file("t.sock")
        let pipe = try #require(Posix.makePipe())
        stop = DescriptorOwner(pipe.write)
        let socket = try descriptor ?? UAPISocket.listen(at: path)
        let (device, ended) = (device, ended)
        let reader = DescriptorOwner(pipe.read)
        let status = SystemThread.start {
            UAPIServer(
                socket,
                stoppedBy: [reader.descriptor],
                handler: device,
                acceptPause: acceptPause,
                accept: accept
            ).run()
            ended.fulfil(())
        }
        #expect(status == 0)
    }
}

@Suite("Configuration sockets", .timeLimit(.minutes(5))) struct UAPISocketTests {
    /// Sends bytes to a socket and returns all answers until the server closes the connection.
    private func transcript(of text: String, at path: String) throws -> String {
        let descriptor = UnixSocket.make()
        defer { Posix.close(descriptor) }
        try #require(UnixSocket.connect(descriptor, to: path))
        _ = Posix.write([UInt8](text.utf8), to: descriptor)
        shutdown(descriptor, Int32(SHUT_WR))
        var answer: [UInt8] = []
        while true {
            let piece = Posix.read(descriptor, atMost: 4_096)
            if piece.isEmpty { return String(decoding: answer, as: UTF8.self) }
            answer += piece
        }
    }

    @Test func `a client reads and changes a device`() async throws {
        let serving = try ServingDevice()
        let client = UAPIClient(path: serving.path, timeLimit: .seconds(60))
        var change = UAPIConfiguration()
        change.listenPort = 7
        try await client.apply(change)
        #expect(try await client.device().listenPort == 7)
        #expect(serving.device.state.withLock { $0.changes } == [change])
    }

    @Test func `a refused change reaches the client with its number`() async throws {
        let serving = try ServingDevice()
        var change = UAPIConfiguration()
        change.listenPort = 1
        await #expect(throws: UAPIError.refused(number: -98, reason: SystemErrors.text(of: 98))) {
            try await UAPIClient(path: serving.path, timeLimit: .seconds(60)).apply(change)
        }
    }

    @Test func `several requests of one connection are answered in order`() throws {
        let serving = try ServingDevice()
        let text = "set=1\nlisten_port=9\n\nget=1\n\nset=1\nnonsense\n\nget=1\n\n"
        let expected = "errno=0\n\nlisten_port=9\nerrno=0\n\nerrno=-71\n\nlisten_port=9\nerrno=0\n\n"
        #expect(try transcript(of: text, at: serving.path) == expected)
    }

    @Test func `an unknown verb closes the connection`() throws {
        let serving = try ServingDevice()
        #expect(try transcript(of: "get=1\n\nfrobnicate=1\n\nget=1\n\n", at: serving.path) == "errno=0\n\n")
    }

    @Test func `a connected socket ends the server when it is closed`() async throws {
        var ends: [Int32] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let serving = try ServingDevice(onlyConnection: ends[0])
        do {
            let client = UAPIClient(connection: ends[1], timeLimit: .seconds(60))
            var change = UAPIConfiguration()
            change.listenPort = 11
            try await client.apply(change)
            #expect(try await client.device().listenPort == 11)
        }
        try await serving.ended.wait()
    }

    @Test func `ten thousand peers are read through the socket`() async throws {
        let serving = try ServingDevice()
        var random = SplitMix64(seed: 45)
        var change = UAPIConfiguration()
        for _ in 0..<10_000 {
            let key = try X25519PublicKey(rawRepresentation: random.bytes(count: 32))
            change.peers.append(UAPIConfiguration.PeerChange(publicKey: key))
        }
        let client = UAPIClient(path: serving.path, timeLimit: .seconds(60))
        try await client.apply(change)
        #expect(try await client.device().peers.map(\.publicKey) == change.peers.map(\.publicKey))
    }

    @Test func `a missing socket is reported with its path`() async throws {
        let path = try TemporaryDirectory().file("none.sock")
        await #expect(throws: UAPIError.unreachable(path: path, reason: SystemErrors.text(of: SystemErrors.notFound))) {
            _ = try await UAPIClient(path: path, timeLimit: .seconds(60)).device()
        }
    }

    @Test func `a server that does not answer times out`() async throws {
        var ends: [Int32] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let silent = DescriptorOwner(ends[0])
        await #expect(throws: UAPIError.timedOut) {
            _ = try await UAPIClient(connection: ends[1], timeLimit: .milliseconds(20)).device()
        }
        withExtendedLifetime(silent) {}
    }

    @Test func `a late answer is never that to a later request`() async throws {
        var ends: [Int32] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let server = DescriptorOwner(ends[0])
        // A copy, so that the late answer is written whether or not the client has closed its end.
        let copy = Locked<DescriptorOwner?>(DescriptorOwner(dup(ends[1])))
        let client = UAPIClient(connection: ends[1], timeLimit: .milliseconds(20))
        await #expect(throws: UAPIError.timedOut) { _ = try await client.device() }
        #expect(Posix.write([UInt8]("listen_port=1\nerrno=0\n\n".utf8), to: server.descriptor) == nil)
        try await #require(throws: UAPIError.closed) { _ = try await client.device() }
        // The engine reads at most one request, and then the end that stops it.
        copy.withLock { $0 = nil }
        var requests: [UInt8] = []
        while true {
            let piece = Posix.read(server.descriptor, atMost: 64)
            if piece.isEmpty { break }
            requests += piece
        }
        #expect(["", "get=1\n\n"].contains(String(decoding: requests, as: UTF8.self)))
    }

    @Test func `a refusal leaves a connection open`() async throws {
        var ends: [Int32] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let serving = try ServingDevice(onlyConnection: ends[0])
        let client = UAPIClient(connection: ends[1], timeLimit: .seconds(60))
        var change = UAPIConfiguration()
        change.listenPort = 1
        await #expect(throws: UAPIError.self) { try await client.apply(change) }
        change.listenPort = 2
        try await client.apply(change)
        #expect(try await client.device().listenPort == 2)
        #expect(serving.device.state.withLock { $0.changes } == [change])
    }

    /// Connects to a serving device, and returns a client on the connection.
    private func connected(to path: String) throws -> UAPIClient {
        let descriptor = UnixSocket.make()
        try #require(UnixSocket.connect(descriptor, to: path))
        return UAPIClient(connection: descriptor, timeLimit: .seconds(60))
    }

    @Test func `a server without descriptors pauses, and serves its connections meanwhile`() async throws {
        let (attempts, failed) = (Locked(0), Promise<Void>())
        let serving = try ServingDevice(acceptPause: .seconds(3_600)) { listener in
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            guard attempt > 1 else { return UAPIServer.accept(listener) }
            failed.fulfil(())
            return -EMFILE
        }
        let first = try connected(to: serving.path)
        #expect(try await first.device() == UAPIDevice())
        let second = try connected(to: serving.path)
        try await failed.wait()
        for _ in 0..<20 { #expect(try await first.device() == UAPIDevice()) }
        #expect(attempts.withLock { $0 } == 2)
        withExtendedLifetime(second) {}
    }

    @Test(arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM]) func `a connection is accepted after a shortage`(
        code: Int32
    ) async throws {
        let failures = Locked(3)
        let serving = try ServingDevice(acceptPause: .milliseconds(1)) { listener in
            let isFailing = failures.withLock { failures in
                failures -= 1
                return failures >= 0
            }
            return isFailing ? -code : UAPIServer.accept(listener)
        }
        #expect(try await UAPIClient(path: serving.path, timeLimit: .seconds(60)).device() == UAPIDevice())
        #expect(failures.withLock { $0 } == -1)
    }
}
