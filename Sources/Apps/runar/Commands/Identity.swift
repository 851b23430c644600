internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import IdentityServer
internal import Logging

/// An identity server: accounts with passkeys for people's apps.
struct Identity: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Run a server where people register a handle and a passkey.",
        subcommands: [
            ServeIdentities.self, DiagnoseIdentities.self, RotateIdentityKey.self, BackUpIdentities.self,
        ]
    )
}

/// Serves registrations and sign-ins.
struct ServeIdentities: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve registrations, sign-ins and handles.",
        discussion: """
            Try it with `runar identity serve --data DIR --rp-id localhost --origin http://localhost:8443`, and open that \
            address in a browser. For others it needs a domain: --rp-id identity.example.org, and a certificate, or a proxy \
            with one in front. Every option is also a variable of the environment, and a key in DIR/identity.json. Needs no \
            home and no node. Ends with Control-C, after the requests in progress or ten seconds.
            """
    )

    @OptionGroup var options: IdentityOptions

    func run() async throws {
        let configuration = try options.configuration()
        let server = try IdentityServer(
            configuration,
            directory: options.directory,
            logger: Logger(label: "Runar.IdentityServer")
        )
        let asJSON = options.json
        _ = try await Interruption.run {
            try await server.run { port in
                let report = IdentityServeReport(configuration, port: port)
                if asJSON { try? Output.json(report) } else { Output.note(report.line) }  // the end reports it
            }
        }
    }
}

/// The report that an identity server answers requests.
struct IdentityServeReport: Codable {
    let event: String
    let url: String
    let port: UInt16
    let rpId: String
    let handleDomain: String

    init(_ configuration: IdentityServerConfiguration, port: UInt16) {
        event = "ready"
        url = configuration.ownOrigin
        self.port = port
        rpId = configuration.rpId
        handleDomain = "\(configuration.handleDomain)"
    }

    var line: String {
        """
        the identity server of \(rpId) listens on port \(port): open \(url). Handles are names under \(handleDomain). Control-C \
        ends it.
        """
    }
}

/// Replaces the key that signs tokens.
struct RotateIdentityKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Replace the key that signs tokens; tokens of the old key stay good until they expire.",
        discussion: "A running server takes the new key within ten seconds."
    )

    @OptionGroup var options: IdentityOptions

    func run() async throws {
        try IdentityServer.rotateKey(try options.configuration(), directory: options.directory)
        try Output.report(IdentityActionReport(done: "rotated"), asJSON: options.json)
    }
}

/// Copies the accounts of a server.
struct BackUpIdentities: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the accounts to a new file, also while the server runs.",
        discussion: """
            The copy is a database of SQLite with the mode 0600. To restore it, stop the server and put the copy in the place of \
            DIR/identity.sqlite. A copy keeps accounts that are deleted later: remove old copies.
            """
    )

    @OptionGroup var options: IdentityOptions
    @Option(help: ArgumentHelp("The file to write, which must not exist.", valueName: "file"), completion: .file())
    var to: String

    func run() async throws {
        try await IdentityServer.backUp(directory: options.directory, to: HomeOptions.absolute(to))
        try Output.report(IdentityActionReport(done: "copied"), asJSON: options.json)
    }
}

/// The report of an action on a server's data.
struct IdentityActionReport: Report {
    let done: String

    var lines: [String] {
        [done == "rotated" ? "a new key signs tokens" : "the accounts were copied"]
    }
}
