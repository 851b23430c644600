internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Logging
internal import Platform
internal import TokenIssuer

/// A token issuer: blind tokens for vouchers and purchases.
struct Issuer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issuer",
        abstract: "Run a server that issues blind tokens, which gateways take for a connection.",
        subcommands: [ServeTokens.self, MakeVouchers.self, RotateIssuerKey.self]
    )
}

/// Serves token requests.
struct ServeTokens: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Sign blind tokens for vouchers, and for purchases in the App Store.",
        discussion: """
            Try it with `runar issuer serve --data DIR`, then make a voucher with `runar issuer voucher --data DIR`. For others \
            it needs a host name: --issuer-name issuer.example.org, and a certificate, or a proxy with one in front. Every \
            option is also a variable of the environment, and a key in DIR/issuer.json. The issuer stores how many tokens an \
            entitlement took in this epoch of seven days, and nothing else. A reader of DIR can sign tokens and make vouchers, \
            but cannot find out which token a client redeemed: keep it from others, and run `runar issuer rotate-key --now` if \
            it was read. Needs no home and no node. Ends with Control-C, after the requests in progress or ten seconds.
            """
    )

    @OptionGroup var options: IssuerOptions

    func run() async throws {
        let configuration = try options.configuration()
        let directory = try options.place.directory
        let server = try TokenIssuer(configuration, directory: directory, logger: Logger(label: "Runar.TokenIssuer"))
        let asJSON = options.place.json
        _ = try await Interruption.run {
            try await server.run { port in
                let report = IssuerServeReport(configuration, port: port, directory: directory)
                if asJSON { try? Output.json(report) } else { Output.note(report.line) }  // the end reports it
            }
        }
    }
}

/// The report that a token issuer answers requests.
struct IssuerServeReport: Codable {
    let event: String
    let url: String
    let port: UInt16
    let issuerName: String
    let takesPurchases: Bool
    /// The command that makes a voucher.
    let next: String

    init(_ configuration: TokenIssuerConfiguration, port: UInt16, directory: String) {
        event = "ready"
        url = configuration.ownOrigin
        self.port = port
        issuerName = configuration.issuerName
        takesPurchases = configuration.purchases != nil
        next = "runar issuer voucher --data \(FilePath.shellQuoted(directory))"
    }

    var line: String {
        "the token issuer \(issuerName) listens on port \(port). Make a voucher with: \(next). Control-C ends it."
    }
}

/// Makes vouchers.
struct MakeVouchers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "voucher",
        abstract: "Print new vouchers, each of which allows a number of tokens in each epoch.",
        discussion: """
            A voucher is printed once and is stored nowhere: give it to one person, over a private path. It cannot be revoked \
            alone; removing DIR/voucher-secret and starting the issuer again voids all vouchers. Works while the issuer runs.
            """
    )

    /// The most vouchers of one command.
    private static let countLimit = 10_000
    private static let daySeconds: UInt64 = 86_400

    @OptionGroup var place: IssuerPlace
    @Option(help: ArgumentHelp("The tokens in each epoch of seven days, 1 to 65535.", valueName: "number"))
    var allowance = 200
    @Option(help: ArgumentHelp("The life of the vouchers, 1 to 3660 days.", valueName: "number"))
    var days = 90
    @Option(help: ArgumentHelp("The number of vouchers, 1 to 10000.", valueName: "number"))
    var count = 1

    func run() async throws {
        guard let tokens = UInt16(exactly: allowance), tokens > 0 else {
            throw Self.unfit("--allowance is 1 to 65535")
        }
        guard (1...3_660).contains(days) else { throw Self.unfit("--days is 1 to 3660") }
        guard (1...Self.countLimit).contains(count) else { throw Self.unfit("--count is 1 to \(Self.countLimit)") }
        let expires = SystemProcess.wallSeconds + UInt64(days) * Self.daySeconds
        let vouchers = try TokenIssuer.vouchers(
            count,
            allowance: tokens,
            expires: expires,
            directory: try place.directory
        )
        let report = VoucherReport(vouchers: vouchers, allowance: tokens, expires: expires)
        try Output.report(report, asJSON: place.json)
    }

    private static func unfit(_ message: String) -> CommandFailure {
        CommandFailure("bad-number", .usage, message)
    }
}

/// The report with new vouchers.
struct VoucherReport: Report {
    let vouchers: [String]
    /// The tokens in each epoch.
    let allowance: UInt16
    /// The end of the vouchers, in seconds since 1970.
    let expires: UInt64

    /// The vouchers alone, one on each line, so that scripts can read them.
    var lines: [String] { vouchers }
}

/// Replaces the key that signs tokens.
struct RotateIssuerKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Replace the key that signs tokens; clients use the new one from the beginning of an epoch.",
        discussion: """
            The new key is in the directory at once, and in use from the beginning of an epoch that is at least a day ahead, so \
            that caches have it by then. The old key signs for some epochs more and is then removed. With --now the new key is \
            in use at once and the old one is removed, for a key that was stolen; gateways must fetch the directory before they \
            take tokens of it. A running issuer takes the files over within ten seconds.
            """
    )

    @OptionGroup var place: IssuerPlace
    @Option(help: ArgumentHelp("The epochs for which the old key signs along with the new one.", valueName: "number"))
    var overlapEpochs = 1
    @Flag(help: "Use the new key at once, and remove the old one.")
    var now = false

    func run() async throws {
        guard (0...RotationPlan.overlapLimit).contains(overlapEpochs) else {
            throw CommandFailure("bad-number", .usage, "--overlap-epochs is 0 to \(RotationPlan.overlapLimit)")
        }
        let time = SystemProcess.wallSeconds
        let plan = now ? RotationPlan.immediate(at: time) : RotationPlan(at: time, overlapEpochs: overlapEpochs)
        try TokenIssuer.rotateKey(plan, directory: try place.directory)
        try Output.report(RotationReport(plan), asJSON: place.json)
    }
}

/// The report of a rotation, with times in seconds since 1970.
struct RotationReport: Report {
    let notBefore: UInt64
    let oldKeyUntil: UInt64?

    init(_ plan: RotationPlan) {
        notBefore = plan.notBefore
        oldKeyUntil = plan.oldKeyUntil
    }

    var lines: [String] {
        let end = oldKeyUntil.map { "the old key signs until \(LocalTime(seconds: $0))" } ?? "the old key was removed"
        return ["clients use the new key from \(LocalTime(seconds: notBefore)); \(end)"]
    }
}
