import Bytes
import Foundation
import NanoTDF
import TestSupport
import Testing

@Suite("Files in parts") struct StreamTests {
    private func seal(
        _ parts: [String],
        to key: NanoTDFPublicKey,
        creator: NanoTDFPrivateKey? = nil
    ) throws -> [NanoTDF] {
        var sealer = NanoTDFStreamSealer(
            try NanoTDFSealer(to: key, keyAccess: Samples.locator(), policy: .plain([1]), creator: creator)
        )
        var sealed: [NanoTDF] = []
        for (index, part) in parts.enumerated() {
            sealed.append(try sealer.seal([UInt8](part.utf8), isLast: index == parts.count - 1))
        }
        return sealed
    }

    private func open(_ parts: [NanoTDF], with key: NanoTDFPrivateKey) throws -> [String] {
        var opener = NanoTDFStreamOpener(key: key)
        var opened: [String] = []
        for part in parts { opened.append(String(decoding: try opener.open(part).plaintext, as: UTF8.self)) }
        try opener.finish()
        return opened
    }

    @Test func `the parts of a file open in order`() throws {
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let creator = try NanoTDFPrivateKey(generatedOn: .secp384r1)
        for texts in [["whole"], ["one", "two"], ["one", "two", ""], ["", "", "", "four"]] {
            let parts = try seal(texts, to: key.publicKey, creator: creator)
            #expect(Set(parts.map(\.header)).count == 1)
            var bytes = parts.flatMap(\.bytes)
            var opener = NanoTDFStreamOpener(key: key)
            for text in texts {
                #expect(!opener.isEnded)
                #expect(throws: NanoTDFError.self) { try opener.finish() }
                let (part, byteCount) = try NanoTDF.first(in: bytes[...])
                bytes.removeFirst(byteCount)
                let opened = try opener.open(part)
                #expect(opened.plaintext == [UInt8](text.utf8))
                #expect(opened.creator == creator.publicKey)
            }
            #expect(bytes.isEmpty)
            #expect(opener.isEnded)
            try opener.finish()
        }
    }

    @Test func `parts that are missing, repeated, swapped or foreign are refused`() throws {
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let parts = try seal(["one", "two", "three"], to: key.publicKey)
        let others = try seal(["one", "two", "three"], to: key.publicKey)
        #expect(try open(parts, with: key) == ["one", "two", "three"])
        let wrong: [[NanoTDF]] = [
            [], [parts[0]], [parts[0], parts[1]], [parts[1], parts[2]], [parts[2]], [parts[0], parts[2]],
            [parts[1], parts[0], parts[2]], [parts[0], parts[0], parts[2]], parts + [parts[2]],
            [parts[0], others[1], parts[2]], [parts[0], parts[1], others[2]],
        ]
        for parts in wrong {
            #expect(throws: NanoTDFError.self) { try open(parts, with: key) }
        }
    }

    @Test func `no part but a whole file opens on its own`() throws {
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        for part in try seal(["one", "two", "three"], to: key.publicKey) {
            #expect(throws: NanoTDFError.authenticationFailed) { try NanoTDFOpener.open(part, with: key) }
        }
        let whole = try seal(["one"], to: key.publicKey)
        #expect(try NanoTDFOpener.open(whole[0], with: key).plaintext == [UInt8]("one".utf8))
    }

    @Test func `an ordinary file is a file of one part`() throws {
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let file = try Samples.sealed(to: key.publicKey)
        #expect(try open([file], with: key) == ["a message"])
        #expect(throws: NanoTDFError.brokenStream(part: 2, reason: "the part before was the last")) {
            try open([file, file], with: key)
        }
        for sample in try Samples.published() {
            #expect(try open([NanoTDF(Hex.decode(sample.nanotdf))], with: sample.key()) == [sample.plaintext])
        }
    }

    @Test func `a part of another creator is refused`() throws {
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let creator = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let parts = try seal(["one", "two"], to: key.publicKey, creator: creator)
        var bytes = parts[1].bytes
        // The signature is the last 97 bytes; another one is made over the same header and payload.
        let signed = [UInt8](bytes.dropLast(97))
        let other = SigningKey()
        bytes = try signed + other.publicKey + other.sign(signed)
        #expect(throws: NanoTDFError.brokenStream(part: 2, reason: "its creator differs")) {
            try open([parts[0], NanoTDF(bytes)], with: key)
        }
    }

    @Test func `a part that is too large leaves the stream as it was`() throws {
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        var sealer = NanoTDFStreamSealer(
            try NanoTDFSealer(to: key.publicKey, keyAccess: Samples.locator(), policy: .plain([1]))
        )
        let limit = sealer.partByteLimit
        var refused: NanoTDFError?
        do { _ = try sealer.seal([UInt8](repeating: 0, count: limit + 1), isLast: true) } catch { refused = error }
        #expect(refused == .tooLarge(limit: limit, found: limit + 1))
        let parts = [try sealer.seal([UInt8]("one".utf8), isLast: false), try sealer.seal([], isLast: true)]
        #expect(try open(parts, with: key) == ["one", ""])
    }

    @Test func `nothing can be sealed after the last part`() throws {
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        var sealer = NanoTDFStreamSealer(
            try NanoTDFSealer(to: key.publicKey, keyAccess: Samples.locator(), policy: .plain([1]))
        )
        _ = try sealer.seal([1], isLast: true)
        var refused: NanoTDFError?
        do { _ = try sealer.seal([1], isLast: true) } catch { refused = error }
        #expect(refused == .exhausted)
    }
}
