internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import NanoTDF
internal import NodeModel
internal import NodeService

/// Seals a file to a public key.
struct Seal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal",
        abstract: "Seal a file to a public key, as a NanoTDF that only the private key opens.",
        discussion: """
            Needs no home. Keys are PEM files on P-256, P-384 or P-521, for example of `openssl genpkey -algorithm EC \
            -pkeyopt ec_paramgen_curve:P-256`. A file above 16 MiB becomes several parts, which `runar open` puts \
            together again.
            """
    )

    /// The way to bind the policy.
    enum Binding: String, CaseIterable, ExpressibleByArgument {
        case ecdsa
        case hash
    }

    /// A larger policy does not fit the format.
    private static let policyByteLimit = NanoTDFPolicy.contentByteLimit

    @Argument(help: "The file; - or nothing is standard input.", completion: .file())
    var file = "-"
    @Option(help: ArgumentHelp("The public key of the recipient, in PEM.", valueName: "key.pem"), completion: .file())
    var to: String
    @Option(help: ArgumentHelp("0 to 5: a tag of 64, 96, 104, 112, 120 or 128 bits.", valueName: "number"))
    var cipher: UInt8 = 5
    @Option(help: ArgumentHelp("ecdsa, or hash, which lets anyone replace the policy.", valueName: "kind"))
    var binding = Binding.ecdsa
    @Option(help: ArgumentHelp("Sign with this private key, in PEM.", valueName: "key.pem"), completion: .file())
    var sign: String?
    @Option(help: ArgumentHelp("The URL of the key access service that has the private key.", valueName: "url"))
    var kas: String?
    @Option(help: ArgumentHelp("The name of the recipient's key, up to 32 bytes.", valueName: "name"))
    var keyId: String?
    @Option(
        help: ArgumentHelp("A file with the policy; else one that allows everything.", valueName: "file"),
        completion: .file()
    )
    var policy: String?
    @Flag(help: "Encrypt the policy too.")
    var encryptPolicy = false
    @Option(help: ArgumentHelp("The URL of a policy, instead of a policy in the file.", valueName: "url"))
    var remotePolicy: String?
    @Option(
        help: ArgumentHelp("Write into this file, in place of what is there.", valueName: "file"),
        completion: .file()
    )
    var output: String?
    @OptionGroup var options: OutputOptions

    func validate() throws {
        guard cipher <= 5 else { throw ValidationError("--cipher is from 0 to 5.") }
        guard remotePolicy == nil || (policy == nil && !encryptPolicy) else {
            throw ValidationError("--remote-policy goes with neither --policy nor --encrypt-policy.")
        }
    }

    // Off the main thread, which waits for signals meanwhile.
    @concurrent func run() async throws {
        try InputFile.checkStandardInput([
            ("the file", file), ("--to", to), ("--sign", sign), ("--policy", policy),
        ])
        let isFile = output != nil && output != "-"
        guard isFile || (!Output.isTerminal && !options.json) else {
            throw CommandFailure("usage", .usage, "a sealed file is no text: add --output FILE, or send it into a pipe")
        }
        let input = try InputFile(file)
        var sealer = NanoTDFStreamSealer(try header())
        let output = try OutputFile.begin(output)
        let progress = ProgressLine()
        defer { progress.finish() }
        var first: NanoTDF?
        var (parts, count) = (0, 0)
        var part = try input.read(sealer.partByteLimit)
        while true {
            let next = part.count == sealer.partByteLimit ? try input.read(sealer.partByteLimit) : []
            let sealed = try sealer.seal(part, isLast: next.isEmpty)
            try output.write(sealed.bytes)
            first = first ?? sealed
            parts += 1
            count += part.count
            progress.show("sealed: \(ByteCountText.text(of: Double(count)))")
            if next.isEmpty { break }
            part = next
        }
        let path = output.path
        try output.commit()
        progress.finish()
        guard options.json, let first else { return }
        var report = NanoTDFReport(first, parts: parts)
        report.path = path
        try Output.json(report)
    }

    private func header() throws -> NanoTDFSealer {
        do {
            return try sealer()
        } catch NanoTDFError.invalidInput(let field, let reason) {
            let option = Self.options[field] ?? "--policy"
            throw CommandFailure("usage", .usage, "\(option) cannot be used: \(field.rawValue): \(reason)")
        }
    }

    /// The options of each field that the sealer may refuse.
    private static let options: [NanoTDFError.Field: String] = [
        .locatorProtocol: "--kas or --remote-policy", .locatorBody: "--kas or --remote-policy",
        .locatorIdentifier: "--key-id",
    ]

    private func sealer() throws -> NanoTDFSealer {
        guard let cipher = SymmetricCipher(rawValue: cipher) else { preconditionFailure("cipher \(cipher)") }
        let recipient = try KeyFile.publicKey(to)
        return try NanoTDFSealer(
            to: recipient,
            keyAccess: keyAccess(of: recipient),
            policy: policyToWrite(),
            cipher: cipher,
            binding: binding == .ecdsa ? .ecdsa : .hash,
            creator: sign.map(KeyFile.privateKey)
        )
    }

    private func keyAccess(of recipient: NanoTDFPublicKey) throws -> ResourceLocator {
        let identifier = try keyId.map(ResourceLocator.identifier(named:)) ?? recipient.identifier
        guard let kas else { return try .recipient(identifier: identifier) }
        return try ResourceLocator(url: kas, identifier: identifier)
    }

    private func policyToWrite() throws -> NanoTDFSealer.Policy {
        if let remotePolicy { return .remote(try ResourceLocator(url: remotePolicy)) }
        let content =
            try policy.map {
                try InputText.bytes($0, limit: Self.policyByteLimit, otherwise: "the format has no room for it")
            } ?? NanoTDFSealer.Policy.unrestrictedContent()
        return encryptPolicy ? .encrypted(content) : .plain(content)
    }
}
