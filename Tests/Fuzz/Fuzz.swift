internal import Foundation
internal import NanoTDF

/// Decodes any bytes: a decoded value encodes to the same bytes, and opening it ends with an error or a plaintext.
struct Fuzz {
    /// A key on each curve, always the same, so that an input that fails does so again.
    private let keys: [NanoTDFPrivateKey]
    private let mail: MailFuzz
    private let circle: CircleFuzz

    init() throws {
        mail = try MailFuzz()
        circle = try CircleFuzz()
        keys = try [EllipticCurve.secp256r1: 32, .secp384r1: 48, .secp521r1: 66].map { curve, byteCount in
            let scalar = [UInt8](repeating: 0, count: byteCount - 2) + [1, 7]
            return try NanoTDFPrivateKey(rawRepresentation: SecretBytes(copying: scalar), on: curve)
        }
    }

    /// Writes seeds into a folder: the vectors of mailboxes and circles, and files that the keys open.
    func writeSeeds(to folder: String, vectors: String) throws {
        try writeSealed(to: folder)
        let vectors = URL(filePath: vectors)
        for (number, seed) in try (mail.seeds(in: vectors) + circle.seeds(in: vectors)).enumerated() {
            try seed.input.write(to: URL(filePath: folder).appending(path: "\(seed.format)-\(number)"))
        }
    }

    /// Writes files that the keys open into a folder, so that mutations reach the data behind their first part.
    private func writeSealed(to folder: String) throws {
        for (number, key) in keys.enumerated() {
            for parts in 1...3 {
                for isSigned in [false, true] {
                    let sealer = try NanoTDFSealer(
                        to: key.publicKey,
                        keyAccess: .recipient(identifier: key.publicKey.identifier),
                        policy: number == 1 ? .encrypted([1, 2]) : .plain([1, 2]),
                        cipher: SymmetricCipher.allCases[(number + parts) % SymmetricCipher.allCases.count],
                        binding: parts == 2 ? .hash : .ecdsa,
                        creator: isSigned ? keys[0] : nil
                    )
                    var stream = NanoTDFStreamSealer(sealer)
                    var bytes: [UInt8] = []
                    for part in 1...parts { bytes += try stream.seal([7, UInt8(part)], isLast: part == parts).bytes }
                    let name = "sealed-\(number)-\(parts)-\(isSigned)"
                    try Data(bytes).write(to: URL(filePath: folder).appending(path: name))
                    for key in keys where key.curve == keys[number].curve {
                        let opened = try NanoTDFStreamOpener.open(whole: bytes, with: key).plaintext
                        precondition(opened.count == 2 * parts, "a seed does not open")
                    }
                }
            }
        }
    }

    func read(_ bytes: [UInt8]) {
        guard let format = bytes.first.flatMap({ Format(rawValue: $0) }) else { return readNanoTDF(bytes) }
        let bytes = Array(bytes.dropFirst())
        switch format {
        case .message: mail.readMessage(bytes)
        case .deposit: mail.readDeposit(bytes)
        case .mail: mail.readMail(bytes)
        case .card: circle.readCard(bytes)
        case .cardFields: circle.readCardFields(bytes)
        case .cardText: circle.readCardText(bytes)
        case .letter: circle.readLetter(bytes)
        case .receipt: circle.readReceipt(bytes)
        case .thought: circle.readThought(bytes)
        case .envelope: circle.readEnvelope(bytes)
        case .stream: circle.readStream(bytes)
        case .notice: circle.readNotice(bytes)
        case .frame: circle.routeFrame(bytes)
        }
    }

    private func readNanoTDF(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        attempt { _ = try NanoTDFPublicKey(pemRepresentation: text) }
        attempt { _ = try NanoTDFPrivateKey(pemRepresentation: text) }
        for key in keys { attempt { _ = try NanoTDFStreamOpener.open(whole: bytes, with: key) } }
        attempt {
            let file = try NanoTDF(bytes)
            precondition(file.bytes == bytes, "a file is written differently than it was read")
        }
    }

    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            precondition(error is NanoTDFError, "an error of another kind: \(error)")
        }
    }
}

private let fuzz = Result { try Fuzz() }

@_cdecl("fuzz_one") func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    switch fuzz {
    case .success(let fuzz): fuzz.read(bytes)
    case .failure(let error): preconditionFailure("no keys: \(error)")
    }
    return 0
}

@_silgen_name("LLVMFuzzerRunDriver") func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ one: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The entry point: the package manager gives it this name, so that libFuzzer's own `main` is not used.
@_cdecl("fuzz_main") func fuzzMain(
    _ count: CInt,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    let words = CommandLine.arguments
    if words.count == 4, words[1] == "seeds" {
        do {
            try fuzz.get().writeSeeds(to: words[2], vectors: words[3])
            return 0
        } catch {
            print("the seeds cannot be written: \(error)")
            return 1
        }
    }
    var (count, arguments) = unsafe (count, arguments)
    return unsafe runDriver(&count, &arguments, fuzzOne)
}
