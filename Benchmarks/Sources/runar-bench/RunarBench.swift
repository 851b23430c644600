/// The program that `Benchmarks/bench.py` starts: Runar's side of each measurement.
///
/// The commands and their results are those of the other drivers, so that one script runs them all:
/// `quic server`, `quic client ID ADDRESS OPERATION N A`, the same with `node` and `service`, `local N` for N requests to a
/// service of the same node, `start N` for a start with N records, `tokens N`, `seal N`, `sealed N`, `mail N`, `vault N`;
/// `group N` for content that is sealed for 20 devices, `history N` for a conversation of N thoughts; `qr N FOLDER` for
/// images of QR codes; `identity server FOLDER`, `identity client ADDRESS REGISTRATIONS SIGN-INS`, `identity anchors N FOLDER`
/// and `identity accounts N FOLDER` for the identity server; `exit ...` for blind tokens, their issuer and gateway (`RunarBench+Tokens.swift`);
/// `tunnel own|go ...` for an end of a tunnel; `relay N` for N MiB directly and over a relay; and for a family
/// `subscriptions N` for events published right after subscriptions; `family server`, `family member ID ADDRESS OTHERS RECORDS` and `family client ID ADDRESS get N OTHERS`.
@main
enum RunarBench {
    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        do {
            try await run(Array(words))
        } catch {
            Output.complain("\(error)")
            Output.exit(code: 1)
        }
        Output.exit(code: 0)
    }

    /// Off the main actor, where an app's own tasks run too.
    @concurrent private static func run(_ words: [String]) async throws {
        switch (words.first, words.dropFirst().first) {
        case ("quic", "server"): try await StreamServer(endpoint: QUICSide.server()).run()
        case ("quic", "client"): try await QUICSide.measure(Order(words.dropFirst(2)))
        case ("node", "server"): try await NodeSide.serve()
        case ("node", "client"): try await NodeSide.measure(Order(words.dropFirst(2)))
        case ("family", "server"): try await NodeSide.serve(withHashTable: true)
        case ("family", "member"): try await FamilySide.serve(words.dropFirst(2))
        case ("family", "client"): try await FamilySide.read(Order(words.dropFirst(2)))
        case ("subscriptions", let count?): try await SubscriptionSide.measure(count: Int(count) ?? 1000)
        case ("service", "server"): try await ServiceSide.serve()
        case ("service", "client"): try await ServiceSide.measure(Order(words.dropFirst(2)))
        case ("local", let count?): try await ServiceSide.local(count: Int(count) ?? 100_000)
        case ("start", let records?): try await ServiceSide.start(records: Int(records) ?? 1000)
        case ("relay", let count?): try await RelaySide.measure(mebibytes: Int(count) ?? 256)
        case ("tokens", let count?): try KeySide.measureTokens(count: Int(count) ?? 1000)
        case ("qr", let count?):
            try CodeSide.measure(count: Int(count) ?? 4, folder: words.dropFirst(2).first ?? ".")
        case ("seal", let count?): try SealSide.measure(count: Int(count) ?? 1000)
        case ("sealed", let count?): try await SealedMessageSide.measure(count: Int(count) ?? 500)
        case ("mail", let count?): try await MailSide.measure(count: Int(count) ?? 10_000)
        case ("group", let count?): try await CircleSide.measureGroup(count: Int(count) ?? 200)
        case ("history", let count?): try await CircleSide.measureHistory(count: Int(count) ?? 100_000)
        case ("identity", let order?): try await identity(order, words.dropFirst(2))
        case ("exit", let order?): try await exit(order, words.dropFirst(2))
        case ("tunnel", "own"): try await TunnelSide.serveOwn(TunnelSide.Order(words.dropFirst(2)))
        case ("tunnel", "go"): try await TunnelSide.serveGo(TunnelSide.Order(words.dropFirst(2)))
        case ("vault", let count?): try KeySide.measureVault(count: Int(count) ?? 10)
        default:
            throw BenchError(
                "usage: runar-bench quic|node|service|family server|client ..., family member ..., identity server|client|anchors|accounts ..., exit issuer|gateway|issue|redeem|anchors|handshakes|peers ..., tunnel own|go ..., tokens|seal|sealed|mail|group|history|vault|subscriptions|relay|local|start N, qr N FOLDER"
            )
        }
    }

    private static func identity(_ order: String, _ words: ArraySlice<String>) async throws {
        switch (order, words.first, words.dropFirst().first) {
        case ("server", let folder?, nil): try await IdentitySide.serve(folder)
        case ("client", let address?, _): try IdentitySide.measure(address, IdentitySide.Load(words.dropFirst()))
        case ("anchors", let count?, let folder?):
            try IdentityAnchors.measure(verifications: Int(count) ?? 1_000, folder: folder)
        case ("accounts", let count?, let folder?):
            try await AccountFactory.make(count: Int(count) ?? 1_000, in: folder)
        default: throw BenchError("usage: runar-bench identity server|client|anchors|accounts ...")
        }
    }
}

/// The order to a client.
struct Order {
    enum Operation: String {
        case bulk
        case roundtrip
        case parallel
        case handshake
        case idle
        case file
        case get
        case publish
    }

    let id: String
    let address: String
    let operation: Operation
    let count: Int
    let argument: Int

    init(_ words: ArraySlice<String>) throws {
        let words = Array(words)
        guard words.count == 5, let operation = Operation(rawValue: words[2]), let count = Int(words[3]),
            let argument = Int(words[4])
        else {
            throw BenchError("usage: client ID ADDRESS bulk|roundtrip|parallel|handshake|idle|file|get|publish N A")
        }
        id = words[0]
        address = words[1]
        self.operation = operation
        self.count = count
        self.argument = argument
    }
}

/// Why a measurement is worth nothing.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
