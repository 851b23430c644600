internal import Bytes
internal import Concurrency
internal import Identity
internal import NodeCore
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import Node

@Suite("Files between nodes", .timeLimit(.minutes(15))) struct FileTests {
    private let source: TemporaryDirectory
    private let target: TemporaryDirectory

    init() throws {
        self.source = try TemporaryDirectory()
        self.target = try TemporaryDirectory()
    }

    private func content(_ count: Int) -> [UInt8] {
        var random = TestSupport.SplitMix64(seed: 7)
        return random.bytes(count: count)
    }

    private func acceptAll(_ node: LabNode) {
        node.driver.receiveFiles(FileReceiver { [target] _ in target.path })
    }

    @Test func `a file arrives unchanged after consent, and progress is reported`() async throws {
        try await Lab.run(2) { _, nodes in
            let bytes = self.content(1_000_000)
            let path = try self.source.write(bytes, to: "photo.jpg")
            let offers = Locked<[FileOffer]>([])
            let progress = Locked<[FileProgress]>([])
            nodes[1].driver.receiveFiles(
                FileReceiver(
                    decide: { [target] offer in
                        offers.withLock { $0.append(offer) }
                        return target.path
                    },
                    progress: { step in progress.withLock { $0.append(step) } }
                )
            )
            try await nodes[0].driver.sendFile(at: path, named: "photo.jpg", to: nodes[1].peerId) { _ in }
            #expect(try self.target.bytes("photo.jpg") == bytes)
            #expect(try self.target.names() == ["photo.jpg"])
            let offer = try #require(offers.withLock { $0.first })
            #expect(offer.name == "photo.jpg" && offer.byteCount == 1_000_000 && offer.peer == nodes[0].peerId)
            let last = try #require(progress.withLock { $0.last })
            #expect(last.path == self.target.path + "/photo.jpg" && last.transferred == 1_000_000)
        }
    }

    @Test func `an empty file arrives too`() async throws {
        try await Lab.run(2) { _, nodes in
            self.acceptAll(nodes[1])
            let path = try self.source.write([], to: "empty")
            try await nodes[0].driver.sendFile(at: path, named: "empty", to: nodes[1].peerId) { _ in }
            #expect(try self.target.bytes("empty").isEmpty)
        }
    }

    @Test func `a file is refused without a receiver and declined after a no`() async throws {
        try await Lab.run(2) { _, nodes in
            let path = try self.source.write([1], to: "note")
            let peer = nodes[1].peerId
            let refusals = [
                (nil, NodeError.fileRefused(peer, .unattended)), (FileReceiver { _ in nil }, .declined(peer)),
                (FileReceiver { _ throws(FileRefusal) in throw .unanswered }, .fileRefused(peer, .unanswered)),
            ]
            for (receiver, refusal) in refusals {
                nodes[1].driver.receiveFiles(receiver)
                let error = await failure {
                    try await nodes[0].driver.sendFile(at: path, named: "note", to: nodes[1].peerId) { _ in }
                }
                #expect(error as? NodeError == refusal)
            }
            #expect(try self.target.names().isEmpty)
        }
    }

    @Test func `a receiver that was removed before an offer arrived does not decide on it`() async throws {
        try await Lab.run(2) { lab, nodes in
            let driver = nodes[1].driver
            driver.receiveFiles(
                FileReceiver { _ in
                    Issue.record("the receiver had been removed")
                    return nil
                }
            )
            var unit = ByteWriter()
            unit.writeVarintPrefixed(
                FileOffer.encode(name: "note", byteCount: 1, sha256: [UInt8](repeating: 0, count: 32))
            )
            let stream = HeldStream(unit.bytes) { driver.receiveFiles(nil) }
            var reader = StreamReader(stream)
            await driver.receiveFile(on: stream, &reader, from: nodes[0].peerId, in: lab.networkId)
            #expect(stream.resetCode.withLock { $0 } == CloseCode.offerUnattended.rawValue)
        }
    }

    @Test(arguments: Lab.Wire.allCases, [false, true])
    func `a pending offer of a file ends when its sender cancels or leaves`(
        over wire: Lab.Wire,
        isSenderGone: Bool
    ) async throws {
        try await Lab.runStar(2, over: wire) { _, nodes in
            let path = try self.source.write([1], to: "note")
            let (asked, ended) = (Mark(), Mark())
            nodes[1].driver.receiveFiles(
                FileReceiver { [target] _ in
                    asked.set()
                    await untilCancelled()
                    ended.set()
                    return target.path
                }
            )
            let sending = Task {
                try await nodes[0].driver.sendFile(at: path, named: "note", to: nodes[1].peerId) { _ in }
            }
            try await asked.wait()
            if isSenderGone { await nodes[0].driver.stop() } else { sending.cancel() }
            try await ended.wait()
            await #expect(throws: (any Error).self) { try await sending.value }
            #expect(try self.target.names().isEmpty)
        }
    }

    @Test func `a broken transfer resumes at the byte it reached`() async throws {
        try await Lab.run(2) { lab, nodes in
            let bytes = self.content(2_000_000)
            let path = try self.source.write(bytes, to: "film")
            let hasBroken = Locked(false)
            nodes[1].driver.receiveFiles(
                FileReceiver(
                    decide: { [target] _ in target.path },
                    progress: { step in
                        guard step.transferred > 500_000, step.path == nil else { return }
                        let isFirst = hasBroken.withLock { broken in
                            defer { broken = true }
                            return !broken
                        }
                        guard isFirst else { return }
                        lab.network.breakConnections(
                            between: nodes[0].endpoint.address,
                            and: nodes[1].endpoint.address
                        )
                    }
                )
            )
            let events = nodes[0].events.listen()
            let error = await failure {
                try await nodes[0].driver.sendFile(at: path, named: "film", to: nodes[1].peerId) { _ in }
            }
            #expect(error is NodeError)
            _ = try await events.first { if case .peerLeft = $0 { true } else { false } }
            let first = Locked<UInt64?>(nil)
            try await self.sendAgain(path, nodes) { step in first.withLock { $0 = $0 ?? step.transferred } }
            #expect(try #require(first.withLock { $0 }) > 500_000)
            #expect(try self.target.bytes("film") == bytes)
            #expect(try self.target.names() == ["film"])
        }
    }

    /// The receiver may still be busy with the broken transfer.
    private func sendAgain(
        _ path: String,
        _ nodes: [LabNode],
        progress: @escaping @Sendable (FileProgress) -> Void
    ) async throws {
        while true {
            do {
                try await nodes[0].driver.sendFile(
                    at: path,
                    named: "film",
                    to: nodes[1].peerId,
                    progress: progress
                )
                return
            } catch NodeError.fileRefused(_, .busy) {
                await Task.yield()
            }
        }
    }

    @Test func `content that differs from the offer is discarded`() async throws {
        try await Lab.run(2) { _, nodes in
            let bytes = self.content(100_000)
            let path = try self.source.write(bytes, to: "data")
            let first = Locked<FileOffer?>(nil)
            nodes[1].driver.receiveFiles(
                FileReceiver { offer in
                    first.withLock { $0 = offer }
                    return nil
                }
            )
            _ = await failure {
                try await nodes[0].driver.sendFile(at: path, named: "data", to: nodes[1].peerId) { _ in }
            }
            let offer = try #require(first.withLock { $0 })
            let content = offer.sha256.prefix(16).map { byte in
                let digits = String(byte, radix: 16)
                return byte < 16 ? "0" + digits : digits
            }
            try self.target.write([9, 9, 9], to: ".\(offer.peer.short)-\(content.joined()).part")
            self.acceptAll(nodes[1])
            let error = await failure {
                try await nodes[0].driver.sendFile(at: path, named: "data", to: nodes[1].peerId) { _ in }
            }
            #expect(error as? NodeError == .damaged(nodes[1].peerId))
            #expect(try self.target.names().isEmpty)
            try await nodes[0].driver.sendFile(at: path, named: "data", to: nodes[1].peerId) { _ in }
            #expect(try self.target.bytes("data") == bytes)
        }
    }

    @Test func `no existing file is overwritten`() async throws {
        try await Lab.run(2) { _, nodes in
            self.acceptAll(nodes[1])
            try self.target.write([0], to: "a.txt")
            for number in UInt8(1)...2 {
                let path = try self.source.write([number], to: "a.txt")
                try await nodes[0].driver.sendFile(at: path, named: "a.txt", to: nodes[1].peerId) { _ in }
            }
            #expect(try self.target.names() == ["a (1).txt", "a (2).txt", "a.txt"])
            #expect(try self.target.bytes("a.txt") == [0])
        }
    }

    @Test(arguments: [
        ("photo.jpg", "photo.jpg"), ("../../etc/passwd", "passwd"), ("/etc/shadow", "shadow"), ("..", "file"),
        ("a/b/c", "c"), ("a\\b\\c", "c"), (".bashrc", "bashrc"), ("", "file"), ("  ", "file"), ("-rf", "rf"),
        ("a\u{0}b\u{1B}[2J", "ab[2J"), ("gpj.\u{202E}exe", "gpj.exe"), ("con:alt", "conalt"), ("name. .", "name"),
    ])
    func `a name is made harmless`(offered: String, kept: String) {
        #expect(FileOffer.harmless(offered) == kept)
    }

    @Test func `damaged offers never crash`() throws {
        let peer = PeerId(publicKey: generatePeerKey().publicKey)
        let network = Lab().networkId
        let offer = FileOffer.encode(name: "name", byteCount: 9, sha256: [UInt8](repeating: 1, count: 32))
        neverCrash(on: [offer], rounds: 5_000) { _ = try FileOffer($0, from: peer, in: network) }
    }

    @Test func `a file that cannot be read is an error of this machine`() async throws {
        try await Lab.run(2) { _, nodes in
            let error = await failure {
                try await nodes[0].driver.sendFile(at: "/nowhere/at/all", named: "x", to: nodes[1].peerId) { _ in }
            }
            guard case .file? = error as? NodeError else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
        }
    }
}
