internal import NanoTDF

/// Reads any bytes: what was read is written as it was, and opening it ends with an error or a plaintext.
struct Fuzz {
    /// A key on each curve, always the same, so that an input that fails does so again.
    private let keys: [NanoTDFPrivateKey]

    init() throws {
        keys = try [EllipticCurve.secp256r1: 32, .secp384r1: 48, .secp521r1: 66].map { curve, byteCount in
            let scalar = [UInt8](repeating: 0, count: byteCount - 2) + [1, 7]
            return try NanoTDFPrivateKey(rawRepresentation: SecretBytes(copying: scalar), on: curve)
        }
    }

    func read(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        attempt { _ = try NanoTDFPublicKey(pemRepresentation: text) }
        attempt { _ = try NanoTDFPrivateKey(pemRepresentation: text) }
        for key in keys { attempt { _ = try NanoTDFStreamOpener.open(whole: bytes, with: key) } }
        attempt {
            let file = try NanoTDF(bytes)
            precondition(file.bytes == bytes, "a file is written differently than it was read")
        }
    }

    private func attempt(_ body: () throws(NanoTDFError) -> Void) {
        do {
            try body()
        } catch {
            precondition(!error.description.isEmpty, "an error without words: \(error)")
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
    var (count, arguments) = unsafe (count, arguments)
    return unsafe runDriver(&count, &arguments, fuzzOne)
}
