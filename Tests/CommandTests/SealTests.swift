internal import Bytes
internal import Foundation
internal import NanoTDF
internal import TestSupport
internal import Testing

@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

extension Outcome {
    /// The report on a sealed file.
    fileprivate func sealed() throws -> NanoTDFReport {
        try JSONDecoder().decode(NanoTDFReport.self, from: Data(output.utf8))
    }
}

@Suite("runar seal and runar open", .aside) struct SealTests {
    /// A folder with the keys of a recipient and of a creator.
    private struct Workplace {
        let folder: URL
        let recipient: Key
        let creator: Key

        init() throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "seal-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let keys: [Key] = try vectors(named: "NanoTDF/matrix.json")
            recipient = try #require(keys.first { $0.curve == 0 })
            creator = try #require(keys.first { $0.curve == 1 })
            try write(Data(recipient.recipient_pem.utf8), "key.pem")
            try write(Data(creator.recipient_pem.utf8), "creator.pem")
            try write(Data(recipient.publicPEM().utf8), "public.pem")
            try write(Data(creator.publicPEM().utf8), "creator-public.pem")
        }

        func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }

        @discardableResult
        func write(_ bytes: Data, _ name: String) throws -> String {
            try bytes.write(to: folder.appending(path: name))
            return path(name)
        }

        func bytes(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }

        func seal(_ arguments: [String] = [], input: String = "a message") throws -> Outcome {
            try runar(
                ["seal", "--to", path("public.pem"), "--output", path("sealed")] + arguments,
                input: input
            )
        }

        func open(_ arguments: [String] = []) throws -> Outcome {
            try runar(["open", "--key", path("key.pem"), path("sealed")] + arguments)
        }

        func remove() throws { try FileManager.default.removeItem(at: folder) }
    }

    private struct Key: Decodable {
        let curve: Int
        let recipient_pem: String

        func publicPEM() throws -> String {
            try #require(NanoTDFPrivateKey(pemRepresentation: recipient_pem).publicKey.pemRepresentation)
        }
    }

    @Test func `a sealed text opens again with every option`() throws {
        let place = try Workplace()
        let policy = try place.write(Data("a policy".utf8), "policy")
        let choices: [[String]] = [
            [], ["--cipher", "0"], ["--binding", "hash"], ["--sign", place.path("creator.pem")],
            ["--policy", policy, "--encrypt-policy"], ["--remote-policy", "https://kas.example.com/policy"],
            ["--kas", "https://kas.example.com", "--key-id", "e1"],
        ]
        for choice in choices {
            let sealed = try place.seal(choice)
            #expect(sealed.status == 0, "\(choice): \(sealed.errors)")
            let opened = try place.open()
            #expect(opened.status == 0, "\(choice): \(opened.errors)")
            #expect(opened.output == "a message", "\(choice)")
            #expect(opened.errors.contains("not signed") == !choice.contains("--sign"), "\(choice)")
            #expect(opened.errors.contains("not authenticated") == choice.contains("hash"), "\(choice)")
        }
        try place.remove()
    }

    @Test func `reports name the fields and what was verified`() throws {
        let place = try Workplace()
        let choice = ["--cipher", "1", "--kas", "https://kas.example.com", "--key-id", "e1"]
        let sealed = try place.seal(choice + ["--sign", place.path("creator.pem"), "--json"])
        #expect(try sealed.text("path") == place.path("sealed"))
        let inspected = try runar(["inspect", "--json", place.path("sealed")])
        let opened = try place.open(["--json", "--output", place.path("opened")])
        let manual = try packageText(named: "docs/runar-command.md").split(separator: "\n")
        let row = try #require(manual.first { $0.hasPrefix("| `seal`") })
        for (outcome, isOpened) in [(sealed, false), (inspected, false), (opened, true)] {
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
            for key in try outcome.json.keys { #expect(row.contains("`\(key)`"), "the manual misses \(key)") }
            let report = try outcome.sealed()
            #expect(report.kind == "nanotdf")
            #expect(report.valid)
            #expect(report.header.curve == "secp256r1")
            #expect(report.header.tagBits == 96)
            #expect(report.header.keyAccess.url == "https://kas.example.com")
            #expect(report.header.keyAccess.identifierText == "e1")
            #expect(report.signature?.curve == "secp384r1")
            #expect(report.signature?.bytes.count == 2 * 96)
            #expect(report.verification.signature == "valid")
            #expect(report.verification.binding == "ecdsa")
            #expect(report.verification.dialect == (isOpened ? "sdk" : nil))
            #expect(report.plaintextBytes == (isOpened ? 9 : nil))
        }
        #expect(try place.bytes("opened") == Data("a message".utf8))
        try place.remove()
    }

    @Test func `inspect tells a forged signature and a changed policy`() throws {
        let place = try Workplace()
        _ = try place.seal(["--sign", place.path("creator.pem")])
        var bytes = try place.bytes("sealed")
        bytes[bytes.count - 1] ^= 1
        try place.write(bytes, "sealed")
        let forged = try runar(["inspect", "--json", place.path("sealed")])
        #expect(forged.status == 65)
        #expect(try forged.sealed().verification.signature == "invalid")
        #expect(try forged.json["valid"] as? Bool == false)
        #expect(try place.open().status == 65)

        _ = try place.seal(["--policy", place.write(Data("a policy".utf8), "policy")])
        bytes = try place.bytes("sealed")
        let content = try #require(bytes.firstRange(of: Data("a policy".utf8)))
        bytes[content.lowerBound] ^= 1
        try place.write(bytes, "sealed")
        let changed = try runar(["inspect", "--json", place.path("sealed")])
        #expect(changed.status == 65)
        #expect(try changed.sealed().verification.binding == "invalid")
        let refused = try place.open()
        #expect(refused.status == 65)
        #expect(refused.errors.contains("the binding of the policy does not verify"))
        try place.remove()
    }

    @Test func `a creator that is not expected is refused`() throws {
        let place = try Workplace()
        _ = try place.seal(["--sign", place.path("creator.pem")])
        #expect(try place.open(["--signed-by", place.path("creator-public.pem")]).status == 0)
        let other = try place.open(["--signed-by", place.path("public.pem")])
        #expect(other.status == 65)
        #expect(other.output.isEmpty)
        #expect(other.errors.contains("another key signed it"))
        _ = try place.seal()
        let unsigned = try place.open(["--signed-by", place.path("creator-public.pem")])
        #expect(unsigned.status == 65)
        #expect(unsigned.errors.contains("it has no signature"))
        try place.remove()
    }

    @Test func `a file of several parts opens again, and is refused when it was cut`() throws {
        let place = try Workplace()
        let plaintext = Data((0..<20_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) })
        let file = try place.write(plaintext, "plain")
        #expect(try place.seal([file]).status == 0)
        let inspected = try runar(["inspect", "--json", place.path("sealed")])
        #expect(try inspected.json["parts"] as? Int == 2)
        let opened = try place.open(["--output", place.path("opened"), "--json"])
        #expect(opened.status == 0, "\(opened.errors)")
        #expect(try opened.json["parts"] as? Int == 2)
        #expect(try place.bytes("opened") == plaintext)

        let first = try NanoTDF.first(in: [UInt8](place.bytes("sealed"))[...]).byteCount
        let cut = try place.bytes("sealed").prefix(first)
        try place.write(Data(cut), "sealed")
        try place.write(Data("before".utf8), "opened")
        let refused = try place.open(["--output", place.path("opened")])
        #expect(refused.status == 65)
        #expect(refused.errors.contains("part 2 of the file does not continue it: it is missing"))
        #expect(try place.bytes("opened") == Data("before".utf8))
        let names = try FileManager.default.contentsOfDirectory(atPath: place.folder.path)
        #expect(names.allSatisfy { !$0.hasPrefix(".") })
        try place.remove()
    }

    @Test func `refused input ends with 65, one line and no output`() throws {
        let place = try Workplace()
        _ = try place.seal()
        let sealed = try place.bytes("sealed")
        let files = [
            Data(), Data("something else".utf8), sealed.prefix(100), sealed + Data([0]),
            Data([0x4C, 0x31, 0x4D]) + sealed,
        ]
        for bytes in files {
            try place.write(Data(bytes), "sealed")
            let refused = try place.open()
            #expect(refused.status == 65)
            #expect(refused.output.isEmpty)
            #expect(refused.errors.split(separator: "\n").count == 1, "\(refused.errors)")
            #expect(refused.errors.hasPrefix("error: "))
        }
        try place.write(sealed + Data([0]), "sealed")
        #expect(try place.open().errors.contains("at byte \(sealed.count)"))
        try place.remove()
    }

    @Test func `keys that cannot be used end with 65 and the name of the file`() throws {
        let place = try Workplace()
        _ = try place.seal()
        let wrong = try runar(["open", "--key", place.path("public.pem"), place.path("sealed")])
        #expect(wrong.status == 65)
        #expect(wrong.errors.contains("public.pem"))
        #expect(wrong.errors.contains("it is a public key; give a private key"))
        let other = try runar(["open", "--key", place.path("creator.pem"), place.path("sealed")])
        #expect(other.status == 65)
        #expect(other.errors.contains("the file needs a key on secp256r1, and this one is on secp384r1"))
        let missing = try runar(["open", "--key", place.path("no.pem"), place.path("sealed")])
        #expect(missing.status == 66)
        #expect(try runar(["seal", "--to", place.path("key.pem")], input: "a").status == 65)
        #expect(try runar(["seal", "--to", place.path("public.pem"), "--cipher", "6"], input: "a").status == 64)
        try place.remove()
    }

    @Test func `output that cannot be written ends with 74`() throws {
        let place = try Workplace()
        _ = try place.seal()
        let program = ChildProcess.products.appending(path: "runar").path(percentEncoded: false)
        let commands = [
            "open --key \(place.path("key.pem")) \(place.path("sealed"))", "seal --to \(place.path("public.pem"))",
        ]
        for words in commands {
            let process = try ChildProcess(
                path: "/bin/sh",
                arguments: ["-c", "echo a | \(program) \(words) > /dev/full 2> \(place.path("errors")); echo $?"]
            )
            #expect(process.nextLine() == "74", "\(words)")
            #expect(String(decoding: try place.bytes("errors"), as: UTF8.self).contains("standard output"))
        }
        try place.remove()
    }

    @Test func `standard input is read for one purpose`() throws {
        let place = try Workplace()
        let both = try runar(["seal", "--to", place.path("public.pem"), "--policy", "-", "--output", place.path("x")])
        #expect(both.status == 64)
        #expect(both.errors.contains("the file and --policy are both standard input"))
        let keys = try runar(["open", "--key", "-"], input: place.recipient.recipient_pem)
        #expect(keys.status == 64)
        _ = try place.seal()
        let key = try runar(["open", "--key", "-", place.path("sealed")], input: place.recipient.recipient_pem)
        #expect(key.output == "a message")
        try place.remove()
    }

    @Test(.timeLimit(.minutes(15)), arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a command that is interrupted leaves no temporary file`(signal: Int32) async throws {
        let place = try Workplace()
        let before = try FileManager.default.contentsOfDirectory(atPath: place.folder.path)
        let arguments = ["seal", "--to", place.path("public.pem"), "--output", place.path("sealed")]
        let command = try RunningCommand(arguments, home: TemporaryDataDirectory(), keepsInput: true)
        // It waits for the input, with its output begun.
        while try FileManager.default.contentsOfDirectory(atPath: place.folder.path).count == before.count {
            await Task.yield()
        }
        #expect(try await aside { command.end(by: signal) } == 130)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder.path).sorted() == before.sorted())
        try place.remove()
    }

    @Test func `only a regular file is replaced, and keeps its mode`() throws {
        let place = try Workplace()
        _ = try place.seal()
        try FileManager.default.createSymbolicLink(atPath: place.path("link"), withDestinationPath: "key.pem")
        for path in [place.folder.path, place.path("link"), "/dev/null"] {
            let refused = try place.open(["--output", path])
            #expect(refused.status == 73, "\(path)")
            #expect(refused.errors.contains("no regular file"))
        }
        try place.write(Data("before".utf8), "opened")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: place.path("opened"))
        #expect(try place.open(["--output", place.path("opened")]).status == 0)
        let mode = try FileManager.default.attributesOfItem(atPath: place.path("opened"))[.posixPermissions] as? Int
        #expect(mode == 0o640)
        #expect(try place.open(["--output", "-"]).output == "a message")
        try place.remove()
    }

    @Test func `inspect refuses files that do not continue each other`() throws {
        let place = try Workplace()
        _ = try place.seal()
        let one = try place.bytes("sealed")
        _ = try place.seal()
        try place.write(one + place.bytes("sealed"), "both")
        let inspected = try runar(["inspect", "--json", place.path("both")])
        #expect(inspected.status == 65)
        let report = try inspected.sealed()
        #expect(report.parts == 2)
        #expect(report.problem?.contains("part 2") == true)
        try place.remove()
    }

    @Test func `many small files are read as one, and an identifier that begins like one is a text`() throws {
        let place = try Workplace()
        _ = try place.seal(input: "")
        let one = try place.bytes("sealed")
        var many = Data()
        for _ in 0..<100_000 { many.append(one) }
        try place.write(many, "many")
        let inspected = try runar(["inspect", "--json", place.path("many")])
        #expect(try inspected.json["parts"] as? Int == 100_000)
        let text = try runar(["inspect", "--json"], input: "L1" + String(repeating: "A", count: 41) + "=")
        #expect(try text.text("kind") == "identifier")
        try place.remove()
    }

    @Test func `an option that does not fit names itself`() throws {
        let place = try Workplace()
        let long = String(repeating: "a", count: 33)
        for (arguments, option) in [(["--kas", "example.com"], "--kas"), (["--key-id", long], "--key-id")] {
            let refused = try place.seal(arguments)
            #expect(refused.status == 64)
            #expect(refused.errors.contains(option))
        }
        try place.remove()
    }

    @Test(.enabled(if: NanoTDFPeer.missing.isEmpty, "otdf-python is not installed"))
    func `otdf-python opens what the command seals, and the command what otdf-python seals`() throws {
        let place = try Workplace()
        _ = try place.seal(["--binding", "hash"])
        let answers = try NanoTDFPeer.perform([
            .init(key: place.recipient.recipient_pem, nanotdf: Hex.encode([UInt8](place.bytes("sealed")))),
            .init(curve: "secp256r1", public: place.recipient.publicPEM(), plaintext: Hex.encode([1, 2, 3])),
        ])
        #expect(answers[0].plaintext == Hex.encode([UInt8]("a message".utf8)))
        try place.write(Data(Hex.decode(#require(answers[1].nanotdf))), "sealed")
        #expect(try place.open(["--output", place.path("opened")]).status == 0)
        #expect(try place.bytes("opened") == Data([1, 2, 3]))
        try place.remove()
    }
}
