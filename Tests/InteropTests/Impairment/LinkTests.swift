internal import Testing

@Suite("Impaired link", .timeLimit(.minutes(15))) struct ImpairedLinkTests {
    @Test func `a link without impairment passes everything both ways`() async throws {
        let server = try LoopbackSocket()
        let dialler = try LoopbackSocket()
        let link = try ImpairedLink(to: server.port, Impairment(description: "none"), seed: 1)
        dialler.send([1, 2, 3], to: link.port)
        let (bytes, port) = try await server.waitForDatagram()
        #expect(bytes == [1, 2, 3])
        server.send([4], to: port)
        #expect(try await dialler.waitForDatagram().bytes == [4])
    }

    @Test func `a link that rebinds comes from another port, and only that one leads back`() async throws {
        let server = try LoopbackSocket()
        let dialler = try LoopbackSocket()
        let link = try ImpairedLink(to: server.port, Impairment(description: "", rebindingByteCount: 2), seed: 1)
        dialler.send([1], to: link.port)
        let before = try await server.waitForDatagram().port
        dialler.send([2], to: link.port)
        let after = try await server.waitForDatagram().port
        #expect(before != after)
        server.send([8], to: before)
        server.send([9], to: after)
        #expect(try await dialler.waitForDatagram().bytes == [9])
    }
}

extension LoopbackSocket {
    /// The next datagram, however long it takes.
    fileprivate func waitForDatagram() async throws -> (bytes: [UInt8], port: UInt16) {
        while true {
            if let datagram = receive() { return datagram }
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
