internal import ArgumentParser
internal import Bytes
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform

/// Keys: derived, taken out, put in.
struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Derive, export, import and renew keys; exchange one-time keys.",
        subcommands: [
            Derive.self, Export.self, Import.self, RenewDevice.self, Exchange.self, Verify.self, Supply.self,
            Forget.self,
        ]
    )

    /// Seeds and keys are short.
    static let hexLimit = 4096
}

extension Keys {
    struct Derive: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "derive",
            abstract: "Derive an Ed25519 key from a seed (SLIP-0010, hardened paths only).",
            discussion: "Needs no home. The seed is 16 to 64 bytes in hex."
        )

        @Option(
            help: ArgumentHelp("The file with the seed; - is standard input.", valueName: "file"),
            completion: .file()
        )
        var seedFile: String
        @Option(help: ArgumentHelp("The derivation path, as in \"m/44'/0'/0'\".", valueName: "path"))
        var path: String
        @Flag(help: "Print the private key too.")
        var reveal = false
        @OptionGroup var output: OutputOptions

        func run() throws {
            let text = try InputText.read(seedFile, limit: Keys.hexLimit).filter { !$0.isWhitespace }
            let seed: SecretBytes
            do {
                var bytes = try Hex.decode(text)
                seed = SecretBytes(consuming: &bytes)
            } catch {
                throw CommandFailure("bad-seed", .data, "the seed is not hex: give 32 to 128 hexadecimal digits")
            }
            let key = try SLIP0010.derive(seed: seed, path: path)
            let report = DerivedKeyReport(
                path: path,
                publicKey: Hex.encode(key.publicKey.bytes),
                chainCode: key.chainCode.withBytes { Hex.encode($0) },
                privateKey: reveal ? key.privateKey.withBytes { Hex.encode($0) } : nil
            )
            try Output.report(report, asJSON: output.json)
        }
    }

    struct Export: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Show a key of this device: peer or root.",
            discussion: "The private key (--reveal) gives control of this device or of your networks: keep it secret."
        )

        @Argument(help: "peer or root.")
        var key: String
        @Flag(help: "Print the private key too.")
        var reveal = false
        @OptionGroup var home: HomeOptions

        func request() -> APIRequest<KeyReport> {
            reveal ? Operations.exportKey(KeyName(key)) : Operations.publicKey(KeyName(key))
        }
    }

    struct Import: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Put a private key into this device's vault.",
            discussion: "The file holds 64 hexadecimal digits, or with --sealed what the console exported."
        )

        @Argument(help: "peer or root.")
        var key: String
        @Argument(help: "The file with the key; - is standard input.", completion: .file())
        var file = "-"
        @Flag(help: "The file is one that a passphrase opens, as the console exports it.")
        var sealed = false
        @Option(
            help: ArgumentHelp("A file with the passphrase of the sealed file.", valueName: "file"),
            completion: .file()
        )
        var sealedPassphraseFile: String?
        @Flag(help: "Replace the key of this device, which is lost.")
        var replace = false
        @OptionGroup var home: HomeOptions

        func request() async throws -> APIRequest<KeyReport> {
            let hex =
                sealed
                ? try await unsealed()
                : try InputText.read(file, limit: Keys.hexLimit).filter { !$0.isWhitespace }
            return Operations.importKey(KeyName(key), KeyImportForm(hex: hex, replace: replace))
        }

        /// The key in a file that a passphrase opens.
        private func unsealed() async throws -> String {
            let path = HomeOptions.absolute(file)
            guard file != "-", try VaultFile.exists(at: path) else {
                throw CommandFailure("no-file", .noInput, "there is no file \(file): name the one that was exported")
            }
            let source = try Backup.secret(
                sealedPassphraseFile,
                otherwise: "give it with --sealed-passphrase-file FILE"
            )
            let keys = try await source.opening { try VaultFile.contents(at: path, secret: $0) }
            guard let found = try keys.retrieve(id: key) else {
                throw CommandFailure("no-key", .data, "there is no \(key) key in \(file): name another key or file")
            }
            return found.withBytes { Hex.encode($0) }
        }
    }
}

extension Keys {
    struct RenewDevice: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "renew-device",
            abstract: "Give this device a new key, which a revoked device needs.",
            discussion: """
                Its memberships end: join again with an invitation or a token for the new id. The root key and your own \
                networks stay, and the old key is revoked in them. A running node goes on with the new key.
                """
        )

        @Flag(help: "Do not ask.")
        var yes = false
        @OptionGroup var home: HomeOptions

        func prepare() async throws {
            if yes { return }
            Output.note("This device gets a new key and a new id. Its memberships in networks of others end.")
            try await Prompt.requireConsent("", with: "renew", otherwise: "nothing was changed")
        }

        func request() -> APIRequest<RenewalReport> { Operations.renewDevice() }
    }
}

/// A derived key.
struct DerivedKeyReport: Report {
    let path: String
    let publicKey: String
    let chainCode: String
    let privateKey: String?

    var lines: [String] {
        var lines = ["public key  \(publicKey)", "chain code  \(chainCode)"]
        if let privateKey { lines.append("private key \(privateKey)") }
        return lines
    }
}
