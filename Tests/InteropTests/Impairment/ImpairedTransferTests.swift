internal import Crypto
internal import Identity
internal import Testing
internal import Transport
internal import TransportConformance

/// Transfers between two endpoints with a misbehaving proxy between them.
@Suite("Impaired transfers", .serialized, .timeLimit(.minutes(15))) struct ImpairedTransferTests {
    static let impairments: [Impairment] = [
        Impairment(description: "2 % loss", loss: 0.02),
        Impairment(description: "10 % reordering", reordering: 0.1),
        Impairment(description: "10 % duplication", duplication: 0.1),
        Impairment(description: "1 % turned bits", corruption: 0.01, transferByteCount: 16_000_000),
        Impairment(description: "nothing longer than 1 300 bytes", maximumByteCount: 1300),
        Impairment(
            description: "nothing longer than 1 300 bytes after half of it",
            maximumByteCount: 1300,
            maximumBeginsAt: 50_000_000
        ),
        Impairment(description: "a NAT that forgets its mapping ten times", rebindingByteCount: 10_000_000),
        Impairment(
            description: "everything at once",
            loss: 0.01,
            duplication: 0.02,
            reordering: 0.02,
            corruption: 0.002,
            maximumByteCount: 1300,
            maximumBeginsAt: 4_000_000,
            rebindingByteCount: 2_000_000,
            transferByteCount: 8_000_000
        ),
    ]

    @Test(arguments: impairments)
    func `a transfer arrives byte for byte both ways`(impairment: Impairment) async throws {
        let counts = try await transfer(impairment)
        #expect(counts.byteCount > impairment.transferByteCount + impairment.answerByteCount)
        if impairment.loss > 0 { #expect(counts.lost > 0) }
        if impairment.reordering > 0 { #expect(counts.reordered > 0) }
        if impairment.duplication > 0 { #expect(counts.duplicated > 0) }
        if impairment.corruption > 0 { #expect(counts.corrupted > 0) }
        if impairment.maximumByteCount < .max { #expect(counts.tooLong > 0, "nobody tried a longer datagram") }
        if impairment.rebindingByteCount < .max {
            #expect(counts.rebindings >= impairment.transferByteCount / impairment.rebindingByteCount - 1)
        }
    }

    /// Sends bytes through a proxy, then others back, and compares their SHA-256.
    private func transfer(_ impairment: Impairment) async throws -> ProxyCounts {
        try await withEndpoint { dialler in
            try await withEndpoint { server in
                let link = try ImpairedLink(to: try address(of: server).port, impairment, seed: 7)
                let place = SocketAddress(.v4(0x7F00_0001), port: link.port)
                async let accepting = server.accept()
                let dialled = try await dialler.connect(to: place, expecting: server.localPeerId)
                let accepted = try #require(try await accepting)
                let portBefore = accepted.remoteAddress.port

                let stream = try dialled.openStream()
                async let sent = send(impairment.transferByteCount, on: stream, seed: 11)
                let taken = try #require(try await accepted.acceptStream())
                let arrived = try await receive(from: taken)
                let expected = try await sent
                #expect(arrived == Transferred(digest: expected, byteCount: impairment.transferByteCount))

                async let answered = send(impairment.answerByteCount, on: taken, seed: 12)
                let back = try await receive(from: stream)
                let expectedBack = try await answered
                #expect(back == Transferred(digest: expectedBack, byteCount: impairment.answerByteCount))
                if impairment.rebindingByteCount < .max { #expect(accepted.remoteAddress.port != portBefore) }
                return link.counts
            }
        }
    }

    private struct Transferred: Equatable {
        let digest: SHA256.Digest
        let byteCount: Int
    }

    /// Writes pseudo-random bytes and returns their hash.
    private func send(_ byteCount: Int, on stream: any Stream, seed: UInt64) async throws -> SHA256.Digest {
        // Windows of one pattern, each shifted by one byte, so that no two pieces are alike.
        let material = pattern(2 << 20, seed: seed)
        var hash = SHA256()
        var start = 0
        while start < byteCount {
            let offset = (start / 65_536) % (1 << 20)
            let length = min(65_536, byteCount - start)
            let piece = Array(material[offset..<offset + length])
            hash.update(data: piece)
            start += piece.count
            try await stream.write(piece, finish: start == byteCount)
        }
        return hash.finalize()
    }

    private func receive(from stream: any Stream) async throws -> Transferred {
        var hash = SHA256()
        var count = 0
        while true {
            let (bytes, isFinal) = try await stream.read(atMost: 1 << 20)
            hash.update(data: bytes)
            count += bytes.count
            if isFinal { return Transferred(digest: hash.finalize(), byteCount: count) }
        }
    }
}
