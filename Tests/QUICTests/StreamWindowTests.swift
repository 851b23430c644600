internal import QUIC
internal import Testing
internal import Transport
internal import TransportConformance

@Suite("Windows of streams", .timeLimit(.minutes(1))) struct StreamWindowTests {
    @Test func `streams of which only the beginning is read keep no room from those that are read`() async throws {
        let count = 64
        let kit = TransportKit.quic { configuration in
            configuration.limits.concurrentStreams = count + 1
            configuration.limits.connectionWindow = 4 << 20
        }
        try await kit.withConnection { dialled, accepted in
            // Together they would fill the connection's window several times.
            let piece = [UInt8](repeating: 5, count: 256 << 10)
            var waiting: [any Transport.Stream] = []
            for _ in 0..<count {
                let stream = try dialled.openStream()
                try await stream.write(piece, finish: true)
                waiting.append(stream)
            }
            var begun: [any Transport.Stream] = []
            for _ in 0..<count {
                let stream = try #require(try await accepted.acceptStream())
                let (bytes, _) = try await stream.read(atMost: QUICLimits().firstStreamWindow / 2)
                #expect(!bytes.isEmpty)
                begun.append(stream)
            }
            let late = try dialled.openStream()
            async let sending: Void = late.write([UInt8](repeating: 6, count: 4 << 20), finish: true)
            let taken = try #require(try await accepted.acceptStream())
            var arrived = 0
            while true {
                let (bytes, isFinal) = try await taken.read(atMost: 1 << 20)
                arrived += bytes.count
                if isFinal { break }
            }
            try await sending
            #expect(arrived == 4 << 20)
            // Whoever waited is read to its end when its turn comes.
            for stream in begun {
                var isFinal = false
                while !isFinal { isFinal = try await stream.read(atMost: 1 << 20).isFinal }
            }
            withExtendedLifetime(waiting) {}
        }
    }
}
