internal import Bytes
internal import Concurrency
internal import Foundation
internal import Identity
internal import NodeCore
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Node

/// Files that change while they are sent, and receivers that cannot store them.
@Suite("Files that cannot arrive as they are", .timeLimit(.minutes(15))) struct FileFailureTests {
    private let source: TemporaryDirectory
    private let target: TemporaryDirectory

    init() throws {
        self.source = try TemporaryDirectory()
        self.target = try TemporaryDirectory()
    }

    @Test(arguments: Lab.Wire.allCases)
    func `a file that grows while it is sent arrives with the offered bytes`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(2, over: wire) { _, nodes in
            let path = try self.source.write([UInt8](repeating: 7, count: 300_000), to: "log")
            nodes[1].driver.receiveFiles(
                FileReceiver { [target] _ in
                    guard let file = FileHandle(forWritingAtPath: path) else { return nil }
                    file.seekToEndOfFile()
                    file.write(Data(repeating: 8, count: 300_000))
                    return target.path
                }
            )
            let sent = try await nodes[0].driver.sendFile(at: path, named: "log", to: nodes[1].peerId) { _ in }
            #expect(sent == SentFile(name: "log", byteCount: 300_000, hasGrown: true))
            #expect(try self.target.bytes("log") == [UInt8](repeating: 7, count: 300_000))
            #expect(try self.target.names() == ["log"])
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `a file that shrinks while it is sent is an error and leaves nothing`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(2, over: wire) { _, nodes in
            let path = try self.source.write([UInt8](repeating: 7, count: 300_000), to: "log")
            nodes[1].driver.receiveFiles(
                FileReceiver { [target] _ in
                    FileHandle(forWritingAtPath: path)?.truncateFile(atOffset: 1000)
                    return target.path
                }
            )
            let error = await failure {
                try await nodes[0].driver.sendFile(at: path, named: "log", to: nodes[1].peerId) { _ in }
            }
            #expect(error as? NodeError == .file("\(path) became shorter while it was sent"))
            // The receiver may not have handled the reset yet.
            while !(try self.target.names().isEmpty) { await Task.yield() }
        }
    }

    @Test func `a file is refused before its content when the disk has no room`() async throws {
        try await Lab.run(2) { lab, nodes in
            let failures = Locked<[FileFailure]>([])
            let driver = nodes[1].driver
            driver.receiveFiles(
                FileReceiver(
                    decide: { [target] _ in target.path },
                    failed: { failure in failures.withLock { $0.append(failure) } }
                )
            )
            var unit = ByteWriter()
            unit.writeVarintPrefixed(
                FileOffer.encode(name: "disk.img", byteCount: 1 << 60, sha256: [UInt8](repeating: 0, count: 32))
            )
            let stream = HeldStream(unit.bytes) {}
            var reader = StreamReader(stream)
            await driver.receiveFile(on: stream, &reader, from: nodes[0].peerId, in: lab.networkId)
            #expect(stream.resetCode.withLock { $0 } == CloseCode.noRoom.rawValue)
            let failure = try #require(failures.withLock { $0.first })
            #expect(failure.refusal == .noRoom && failure.reason.contains(self.target.file("disk.img")))
            #expect(try self.target.names().isEmpty)
        }
    }

    @Test(arguments: Lab.Wire.allCases, [false, true])
    func `a receiver that cannot write reports to its own side and to the sender, and keeps nothing`(
        over wire: Lab.Wire,
        hasBegun: Bool
    ) async throws {
        try await Lab.runStar(2, over: wire) { _, nodes in
            let path = try self.source.write([UInt8](repeating: 7, count: 300_000), to: "photo.jpg")
            let inner = self.target.file("inner")
            if hasBegun { try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false) }
            let failures = Locked<[FileFailure]>([])
            nodes[1].driver.receiveFiles(
                FileReceiver(
                    decide: { _ in inner },
                    progress: { _ in try? FileManager.default.removeItem(atPath: inner) },  // once is enough
                    failed: { failure in failures.withLock { $0.append(failure) } }
                )
            )
            let error = await failure {
                try await nodes[0].driver.sendFile(at: path, named: "photo.jpg", to: nodes[1].peerId) { _ in }
            }
            #expect(error as? NodeError == .fileRefused(nodes[1].peerId, .notStored))
            let failure = try #require(failures.withLock { $0.first })
            #expect(failure.offer.name == "photo.jpg" && failure.refusal == .notStored)
            #expect(failure.reason.contains(inner), "\(failure.reason)")
            #expect(try self.target.names().isEmpty)
        }
    }

    @Test(arguments: FileRefusal.allCases)
    func `the sender receives the reason of a refusal`(refusal: FileRefusal) async throws {
        try await Lab.run(2) { _, nodes in
            let path = try self.source.write([1], to: "note")
            nodes[1].driver.receiveFiles(FileReceiver { _ throws(FileRefusal) in throw refusal })
            let error = await failure {
                try await nodes[0].driver.sendFile(at: path, named: "note", to: nodes[1].peerId) { _ in }
            }
            #expect(error as? NodeError == .fileRefused(nodes[1].peerId, refusal))
        }
    }

    @Test(arguments: [
        (SystemErrors.noSpace, FileRefusal.noRoom), (SystemErrors.overQuota, .noRoom),
        (SystemErrors.tooLarge, .noRoom), (SystemErrors.readOnly, .notStored),
        (SystemErrors.inputOutput, .notStored), (SystemErrors.notFound, .notStored),
    ])
    func `a full disk, a quota and a limit of the size of files are a lack of room`(code: Int32, refusal: FileRefusal) {
        #expect(FileRefusal(FileError(operation: "write", path: "/x", code: code)) == refusal)
    }

    @Test func `both sides learn the name that a file got`() async throws {
        try await Lab.run(2) { _, nodes in
            let stored = Locked<[String]>([])
            nodes[1].driver.receiveFiles(
                FileReceiver(
                    decide: { [target] _ in target.path },
                    progress: { step in
                        if let path = step.path { stored.withLock { $0.append(FilePath.name(of: path)) } }
                    }
                )
            )
            let path = try self.source.write([1], to: "photo")
            var told: [String] = []
            for name in ["note.txt", "note.txt", String(repeating: "ж", count: 125) + ".pdf"] {
                let sent = try await nodes[0].driver.sendFile(at: path, named: name, to: nodes[1].peerId) { _ in }
                told.append(sent.name)
            }
            #expect(told == stored.withLock { $0 })
            #expect(told[1] == "note (1).txt" && told[2].hasSuffix(".pdf"))
            #expect(try self.target.names().sorted() == told.sorted())
        }
    }

    @Test func `damaged receipts never crash`() throws {
        let receipts = [FileReceipt.stored(name: "a.txt"), .damaged]
        for receipt in receipts { #expect(try FileReceipt(receipt.bytes) == receipt) }
        neverCrash(on: receipts.map(\.bytes), rounds: 5_000) { _ = try FileReceipt($0) }
    }
}
