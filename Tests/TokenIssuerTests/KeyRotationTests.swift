internal import BlindTokens
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import CommandModel
@testable internal import TokenIssuer

@Suite("Keys of an issuer and their rotation", .timeLimit(.minutes(5))) struct KeyRotationTests {
    private let scene: IssuerScene
    private let files: IssuerKeyFiles
    private static let start = IssuerScene.start

    init() throws {
        scene = try IssuerScene()
        files = try scene.keyFiles
    }

    private func ids(at time: UInt64) throws -> [TokenKeyId] {
        try files.load(at: time).live(at: time).map(\.key.publicKey.keyId)
    }

    // MARK: Plans

    @Test(arguments: [UInt64(0), 1, 3_600, 86_399, 86_400, 518_400, 604_799])
    func `a new key is used from the beginning of an epoch that is at least a day ahead`(offset: UInt64) {
        let now = ExitEpoch(number: 3_141).end + offset
        let plan = RotationPlan(at: now, overlapEpochs: 1)
        #expect(plan.notBefore % 604_800 == 0)
        #expect(plan.notBefore >= now + 86_400 && plan.notBefore < now + 86_400 + 604_801)
        #expect(plan.oldKeyUntil == plan.notBefore + 604_800)
    }

    @Test func `an overlap of no epochs ends the old key with the first use of the new one`() {
        let plan = RotationPlan(at: Self.start, overlapEpochs: 0)
        #expect(plan.oldKeyUntil == plan.notBefore)
    }

    // MARK: Files

    @Test func `the first start makes a key that only its user can read`() throws {
        let first = try ids(at: Self.start)
        #expect(first.count == 1)
        #expect(try ids(at: Self.start + 9_999_999) == first)
        let path = scene.directory.file(IssuerKeyFiles.currentName)
        #expect(try SystemFileSystem().status(of: path, followingLink: false)?.mode == 0o600)
        #expect(
            String(decoding: try scene.directory.bytes(IssuerKeyFiles.currentName), as: UTF8.self).contains("PRIVATE")
        )
    }

    @Test func `a rotation lists the new key first, and the old key until its end`() throws {
        let first = try ids(at: Self.start)
        let plan = RotationPlan(at: Self.start, overlapEpochs: 1)
        try files.rotate(plan, at: Self.start)
        let keys = try files.load(at: Self.start)
        let entries = keys.live(at: Self.start)
        #expect(entries.count == 2 && entries[0].notBefore == plan.notBefore && entries[0].until == nil)
        #expect(entries[1].key.publicKey.keyId == first[0] && entries[1].until == plan.oldKeyUntil)
        let until = try #require(plan.oldKeyUntil)
        #expect(keys.live(at: until - 1).count == 2 && keys.live(at: until).count == 1)
        for name in [IssuerKeyFiles.currentName, IssuerKeyFiles.previousName] {
            let status = try SystemFileSystem().status(of: scene.directory.file(name), followingLink: false)
            #expect(status?.mode == 0o600)
        }
        #expect(try !files.removeExpired(at: until - 1))
        #expect(try files.removeExpired(at: until))
        #expect(try !scene.directory.names().contains(IssuerKeyFiles.previousName))
        #expect(try ids(at: until) == [entries[0].key.publicKey.keyId])
    }

    @Test func `a new key whose id ends in the byte of the old one is made again`() throws {
        let first = try ids(at: Self.start)[0]
        try files.rotate(RotationPlan(at: Self.start, overlapEpochs: 1), at: Self.start)
        let both = try ids(at: Self.start)
        // The next fixed key ends in the byte of the first one, so the one after it was taken.
        #expect(both.count == 2 && both[0].truncated != first.truncated)
        #expect(both[0].description == (try Self.vector("second")))
    }

    private static func vector(_ name: String) throws -> String? {
        struct Key: Decodable {
            let name: String
            let keyId: String
        }
        return try vectors(named: "TokenIssuer/issuer-keys.json", as: [Key].self).first { $0.name == name }?.keyId
    }

    @Test func `the key ids of the vectors are those of another implementation`() throws {
        #expect(try ids(at: Self.start).map(\.description) == [Self.vector("first")])
    }

    @Test func `a second rotation waits for the end of the first one`() throws {
        _ = try ids(at: Self.start)
        let plan = RotationPlan(at: Self.start, overlapEpochs: 1)
        try files.rotate(plan, at: Self.start)
        let before = try ids(at: Self.start)
        let until = try #require(plan.oldKeyUntil)
        #expect {
            try files.rotate(RotationPlan(at: until - 1, overlapEpochs: 1), at: until - 1)
        } throws: { ($0 as? CommandFailure)?.code == "key-just-rotated" }
        #expect(try ids(at: Self.start) == before)
        try files.rotate(RotationPlan(at: until, overlapEpochs: 1), at: until)
        let after = try ids(at: until)
        #expect(after.count == 2 && after[1] == before[0] && !before.contains(after[0]))
    }

    @Test func `an immediate rotation removes every old key, also within another rotation`() throws {
        _ = try ids(at: Self.start)
        try files.rotate(RotationPlan(at: Self.start, overlapEpochs: 1), at: Self.start)
        let before = try ids(at: Self.start)
        try files.rotate(.immediate(at: Self.start), at: Self.start)
        let after = try files.load(at: Self.start).live(at: Self.start)
        #expect(after.count == 1 && after[0].notBefore == 0)
        #expect(!before.contains(after[0].key.publicKey.keyId))
        #expect(try !scene.directory.names().contains(IssuerKeyFiles.previousName))
    }

    @Test func `a rotation that was cut short leaves one key, and can be repeated`() throws {
        let first = try ids(at: Self.start)
        let plan = RotationPlan(at: Self.start, overlapEpochs: 1)
        // The state between the two writes: the previous key is a copy of the current one.
        let pem = String(decoding: try scene.directory.bytes(IssuerKeyFiles.currentName), as: UTF8.self)
        let until = try #require(plan.oldKeyUntil)
        let copy = pem.replacing("not-before: 0", with: "until: \(until)")
        try scene.directory.write(Array(copy.utf8), to: IssuerKeyFiles.previousName)
        #expect(try ids(at: Self.start) == first)
        try files.rotate(plan, at: Self.start)
        #expect(try ids(at: Self.start).count == 2)
    }

    @Test(arguments: ["", "not-before: soon\n", "until: 5\nkey", "not-before: 5\n-----BEGIN PRIVATE KEY-----\nAAAA\n"])
    func `a file that holds no key is named, and stays`(text: String) throws {
        let path = try scene.directory.write(Array(text.utf8), to: IssuerKeyFiles.currentName)
        #expect {
            try files.load(at: Self.start)
        } throws: { error in
            let failure = error as? CommandFailure
            return failure?.code == "bad-key-file" && failure?.message.contains(path) == true
        }
        #expect(try scene.directory.bytes(IssuerKeyFiles.currentName) == Array(text.utf8))
    }

    @Test func `two live keys with the same last byte are refused`() throws {
        _ = try ids(at: Self.start)
        struct Key: Decodable {
            let pem: String
        }
        let keys = try vectors(named: "TokenIssuer/issuer-keys.json", as: [Key].self)
        try scene.directory.write(
            Array("until: \(Self.start + 5)\n\(keys[2].pem)".utf8),
            to: IssuerKeyFiles.previousName
        )
        #expect { try files.load(at: Self.start) } throws: { ($0 as? CommandFailure)?.code == "bad-key-file" }
        #expect(try files.load(at: Self.start + 5).entries.count == 1)
    }
}
