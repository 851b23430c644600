internal import Concurrency
internal import Foundation
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing

@testable import CommandModel
@testable internal import Node
@testable internal import NodeModel
@testable internal import NodeService

@Suite("Offers of files", .timeLimit(.minutes(15))) struct FileOfferTests {
    private let folder: TemporaryDataDirectory
    private let home: DataDirectory

    init() throws {
        folder = try TemporaryDataDirectory()
        home = try DataDirectory(at: folder.path)
    }

    private func offer(from peer: PeerId, named name: String = "photo.jpg") -> FileOffer {
        let network = NetworkId(publicKey: generatePeerKey().publicKey)
        let hash = [UInt8](repeating: 0, count: 32)
        return FileOffer(peer: peer, network: network, name: name, byteCount: 1, sha256: hash)
    }

    @Test func `offers that wait for a person are limited for each member and in total`() async throws {
        let offers = FileOffers(directories: ReceivingDirectories(home: home))
        let (asked, ask) = AsyncStream.makeStream(of: Int.self)
        let listener = FileOffers.Listener(directory: nil, ask: { ask.yield($0.number) }, progress: { _ in })
        let number = offers.add(listener)
        let members = (0..<5).map { _ in PeerId(publicKey: generatePeerKey().publicKey) }
        try await withThrowingTaskGroup(of: String?.self) { group in
            var questions = asked.makeAsyncIterator()
            for (index, member) in members.prefix(4).enumerated() {
                for _ in 0..<FileOffers.offersOfOneMember {
                    group.addTask { [offer = offer(from: member)] in try await offers.decide(offer, standing: nil) }
                    _ = await questions.next()
                }
                if index < 3 {
                    await #expect(throws: FileRefusal.busy) {
                        try await offers.decide(offer(from: member), standing: nil)
                    }
                }
            }
            // 64 wait now, and the fifth member has none of them.
            await #expect(throws: FileRefusal.busy) {
                try await offers.decide(offer(from: members[4]), standing: nil)
            }
            offers.remove(number)
            var declined = 0
            for try await directory in group { declined += directory == nil ? 1 : 0 }
            #expect(declined == FileOffers.offersOfAllMembers)
        }
    }

    @Test func `an unanswered offer is not declined, and its listener is notified`() async throws {
        let offers = FileOffers(directories: ReceivingDirectories(home: home), patience: .zero)
        let ends = Locked<[FileOffers.Outcome]>([])
        let listener = FileOffers.Listener(
            directory: nil,
            ask: { _ in },
            settled: { _, outcome in ends.withLock { $0.append(outcome) } },
            progress: { _ in }
        )
        _ = offers.add(listener)
        await #expect(throws: FileRefusal.unanswered) {
            try await offers.decide(offer(from: PeerId(publicKey: generatePeerKey().publicKey)), standing: nil)
        }
        #expect(ends.withLock { $0 } == [.unanswered])
    }

    @Test func `an offer whose sender no longer waits is withdrawn`() async throws {
        let offers = FileOffers(directories: ReceivingDirectories(home: home))
        let (ends, end) = AsyncStream.makeStream(of: FileOffers.Outcome.self)
        let (asked, ask) = AsyncStream.makeStream(of: Int.self)
        let listener = FileOffers.Listener(
            directory: nil,
            ask: { ask.yield($0.number) },
            settled: { end.yield($1) },
            progress: { _ in }
        )
        _ = offers.add(listener)
        let offer = offer(from: PeerId(publicKey: generatePeerKey().publicKey))
        let decision = Task { try await offers.decide(offer, standing: nil) }
        var questions = asked.makeAsyncIterator()
        let number = try #require(await questions.next())
        decision.cancel()
        var outcomes = ends.makeAsyncIterator()
        #expect(await outcomes.next() == .withdrawn)
        #expect(throws: CommandFailure.self) { try offers.answer(number, "/srv/ada") }
    }

    @Test func `an answer that was taken counts even if the sender ends its wait meanwhile`() async throws {
        let offers = FileOffers(directories: ReceivingDirectories(home: home))
        let (asked, ask) = AsyncStream.makeStream(of: Int.self)
        _ = offers.add(FileOffers.Listener(directory: nil, ask: { ask.yield($0.number) }, progress: { _ in }))
        let offer = offer(from: PeerId(publicKey: generatePeerKey().publicKey))
        var questions = asked.makeAsyncIterator()
        for _ in 0..<200 {
            let decision = Task { try await offers.decide(offer, standing: nil) }
            let number = try #require(await questions.next())
            decision.cancel()
            let expected: String?
            do throws(CommandFailure) {
                try offers.answer(number, "/srv/ada")
                expected = "/srv/ada"
            } catch {
                expected = nil
            }
            #expect(try await decision.value == expected)
        }
    }

    @Test func `a directory is written down before a file arrives in it`() async throws {
        let offers = FileOffers(directories: ReceivingDirectories(home: home))
        let peer = PeerId(publicKey: generatePeerKey().publicKey)
        let inbox = "/srv/in\nbox"
        for _ in 0..<2 { #expect(try await offers.decide(offer(from: peer), standing: inbox) == inbox) }
        let number = offers.add(FileOffers.Listener(directory: "/srv/ada", ask: nil, progress: { _ in }))
        #expect(try await offers.decide(offer(from: peer), standing: nil) == "/srv/ada")
        offers.remove(number)
        await #expect(throws: FileRefusal.unattended) { try await offers.decide(offer(from: peer), standing: nil) }
        #expect(ReceivingDirectories(home: home).all == [inbox, "/srv/ada"])
    }

    @Test func `a file is refused with a notice when its directory cannot be written down`() async throws {
        let offers = FileOffers(directories: ReceivingDirectories(home: home))
        let failures = Locked<[FileFailure]>([])
        let listener = FileOffers.Listener(
            directory: "/srv/ada",
            ask: nil,
            progress: { _ in },
            failed: { failure in failures.withLock { $0.append(failure) } }
        )
        _ = offers.add(listener)
        try FileManager.default.removeItem(atPath: home.path)
        await #expect(throws: FileRefusal.notStored) {
            try await offers.decide(offer(from: PeerId(publicKey: generatePeerKey().publicKey)), standing: nil)
        }
        let report = FileFailedReport(try #require(failures.withLock { $0.first }))
        #expect(report.code == "not-stored" && report.line.contains("photo.jpg") && report.line.contains("not stored"))
    }

    @Test func `the list of directories is limited and forgets unused ones`() throws {
        let directories = ReceivingDirectories(home: home)
        for number in 0...ReceivingDirectories.limit { try directories.add("/d\(number)") }
        #expect(directories.all.count == ReceivingDirectories.limit && directories.all.first == "/d1")
        directories.keep { $0 == "/d7" }
        #expect(ReceivingDirectories(home: home).all == ["/d7"])
        for damage in ["", "[", "{}", "[1]", String(repeating: "x", count: 5_000_000)] {
            try Data(damage.utf8).write(to: URL(filePath: home.file(ReceivingDirectories.fileName)))
            #expect(ReceivingDirectories(home: home).all.isEmpty)
        }
    }

    @Test func `a start removes old partial files from every directory that received a file`() throws {
        let inbox = try TemporaryDirectory()
        let partials = ["0a", "0b"].map { ".5k7qab-\(String(repeating: $0, count: 16)).part" }
        for name in partials + ["notes"] { try inbox.write([1], to: name) }
        try ReceivingDirectories(home: home).add(inbox.path)
        try ReceivingDirectories(home: home).add("/nowhere/at/all")
        let now = SystemProcess.wallSeconds
        let young: [FileAttributeKey: Any] = [.modificationDate: Date(timeIntervalSince1970: Double(now + 86_000))]
        try FileManager.default.setAttributes(young, ofItemAtPath: inbox.file(partials[1]))
        Leftovers(now: now + 90_000).remove(from: home, accepting: nil)
        #expect(try inbox.names() == [partials[1], "notes"])
        // The disk of the other one may be absent for a while.
        #expect(ReceivingDirectories(home: home).all == [inbox.path, "/nowhere/at/all"])
        Leftovers(now: now + 200_000).remove(from: home, accepting: nil)
        #expect(try inbox.names() == ["notes"])
        #expect(ReceivingDirectories(home: home).all == ["/nowhere/at/all"])
    }

    @Test func `files that never arrive leave no more than a fixed number of progress times`() {
        var state = FileStore.State()
        for number in 0..<10_000 as Range<UInt64> {
            let isDue = state.noteProgress(of: "peer/\(number)", at: number, pause: 100, limit: 256)
            #expect(isDue)
            #expect(state.told.count <= 256)
        }
        let isRepeated = state.noteProgress(of: "peer/9999", at: 10_000, pause: 100, limit: 256)
        #expect(!isRepeated)
        let isDueAgain = state.noteProgress(of: "peer/9999", at: 10_099, pause: 100, limit: 256)
        #expect(isDueAgain)
    }

    @Test func `a sender learns the new name and that its file has grown`() {
        func lines(_ name: String, hasGrown: Bool) -> [String] {
            FileSentReport(
                peerId: "",
                path: "/srv/ada/log.txt",
                name: name,
                bytes: 10,
                hasGrown: hasGrown,
                milliseconds: 1
            ).lines
        }
        #expect(lines("log.txt", hasGrown: false).count == 1)
        #expect(lines("log (1).txt", hasGrown: false).last == "it is stored there as log (1).txt")
        #expect(lines("log.txt", hasGrown: true).last?.contains("has grown") == true)
    }

    @Test(
        arguments: [
            (FileRefusal.noRoom, "no-room", 75), (.notStored, "not-stored", 75), (.busy, "receiver-busy", 75),
            (.unanswered, "unanswered", 75), (.unattended, "unattended", 69),
        ]
    )
    func `a receiver that does not take a file is not one that declined`(
        refusal: FileRefusal,
        code: String,
        status: Int32
    ) {
        let peer = PeerId(publicKey: generatePeerKey().publicKey)
        let failure = CommandFailure(NodeError.fileRefused(peer, refusal))
        #expect(failure.code == code && failure.status.rawValue == status && !failure.message.contains("declined"))
    }

    @Test func `the time of an unanswered offer is named`() {
        #expect("\(FileRefusal.unanswered)" == "no one answered there within 120 s")
    }
}
