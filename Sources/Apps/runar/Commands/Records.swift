internal import ArgumentParser
internal import Bytes
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import NodeModel
internal import NodeService
internal import Platform
internal import RunarNode

/// The options of every command about a value in a hash table.
struct TableOptions: ParsableArguments {
    @Option(help: "The network; not needed if there is one only.")
    var network: String?
    @Option(help: ArgumentHelp("How KEY is written: text, hex or base64.", valueName: "format"))
    var keyFormat = TableKey.Format.text
    @Option(help: ArgumentHelp("How long to try, as in 5s; else as the node is set up.", valueName: "duration"))
    var timeout: String?

    /// The key that `text` means.
    ///
    /// - Throws: ``CommandFailure`` when it is not in the format, or the timeout is none.
    func key(_ text: String) throws -> TableKey {
        let key = TableKey(
            text: text,
            format: keyFormat,
            network: network.map { NetworkName($0) },
            timeout: try timeout.map { try DurationText.parse($0) }
        )
        guard key.timeout.map({ $0 > .zero }) ?? true else {
            throw CommandFailure("bad-duration", .usage, "--timeout must be longer than nothing, as in 5s")
        }
        _ = try key.bytes()
        return key
    }
}

extension TableKey.Format: ExpressibleByArgument {}

/// Stores a value.
struct Put: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Store a value under a key, where every member of the network finds it.",
        discussion: """
            Each member has one value under a key, and readers get the newest of all. Other members keep it while this \
            device is away; this device writes it again before it expires whenever its node runs.
            """
    )

    @Argument(help: "The key, 1 to 1024 bytes.")
    var key: String
    @Argument(help: "The value, at most 65536 bytes, in quotation marks.")
    var value: String?
    @Option(
        help: ArgumentHelp("Store the content of this file; - is standard input.", valueName: "path"),
        completion: .file()
    )
    var file: String?
    @Option(help: ArgumentHelp("How long it lasts, at most 7d; else 6d.", valueName: "duration"))
    var lifetime: String?
    @Flag(help: "Only if no member has a value under the key.")
    var ifAbsent = false
    @Option(help: ArgumentHelp("Only if the newest value has this version, from `get --json`.", valueName: "version"))
    var ifVersion: UInt64?
    @OptionGroup var table: TableOptions
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func validate() throws {
        guard (value == nil) != (file == nil) else {
            throw ValidationError("Give a key, and a value or --file: `runar put KEY \"VALUE\"`.")
        }
        guard !ifAbsent || ifVersion == nil else {
            throw ValidationError("Give --if-absent or --if-version, not both.")
        }
    }

    func request() throws -> APIRequest<PutReport> {
        let limit = Record.valueByteLimit
        let advice = "a value has at most that; send it with `runar send PEER --file PATH`, or store where it is"
        let bytes = try file.map { try InputText.bytes($0, limit: limit, otherwise: advice) }
        let condition: PutCondition = ifVersion.map { .ifVersion($0) } ?? (ifAbsent ? .ifAbsent : .any)
        let key = try table.key(key)
        return Operations.put(
            key.network,
            Joined(
                KeyForm(key),
                PutForm(condition, lifetime: try lifetime.map { try DurationText.parse($0) }),
                ContentForm(bytes ?? Array((value ?? "").utf8))
            )
        )
    }
}

/// Reads a value.
struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print the newest value under a key, as it was stored.",
        discussion: """
            The bytes go to standard output and nothing else, except on a terminal. Ends with 66 when there certainly \
            is none, and with 75 when too few members answered to know.
            """
    )

    @Argument(help: "The key.")
    var key: String
    @Option(help: ArgumentHelp("The value of this member: id, its beginning, or label.", valueName: "peer"))
    var writer: String?
    @Flag(help: "List the values of all members, the newest first.")
    var all = false
    @Flag(help: "Ask other members even if this device read or wrote a value lately.")
    var noCache = false
    @Option(
        help: ArgumentHelp(
            "Write the value into this file, in place of what is there; - is standard output.",
            valueName: "path"
        ),
        completion: .file()
    )
    var output: String?
    @OptionGroup var table: TableOptions
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func validate() throws {
        guard !all || (writer == nil && output == nil) else {
            throw ValidationError("--all goes with neither --writer nor --output.")
        }
        guard output != "-" || !home.output.json else {
            throw ValidationError("--output - writes the value alone: leave --json or --output out.")
        }
    }

    func run() async throws {
        let options = GetOptions(writer: writer.map { PeerName($0) }, isAll: all, isCached: !noCache)
        let key = try table.key(key)
        let request = Operations.get(key.network, Joined(KeyForm(key), GetForm(options)))
        var report = try await Session.answer(to: request, home, node, onNetwork: true)
        let file = output == "-" ? nil : output
        if let file, let record = report.records.first {
            let path = HomeOptions.absolute(file)
            // A file with the usual mode: others may read it if the umask permits.
            try Self.write(record.value, to: path)
            report.path = path
        }
        if home.output.json || all || file != nil { return try Output.report(report, asJSON: home.output.json) }
        if let record = report.records.first { try Self.show(record) }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(CommandFailure) {
        do {
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        } catch {
            throw CommandFailure("file", .inputOutput, "cannot write \(path): \(error.localizedDescription)")
        }
    }

    /// A terminal obeys some bytes; other programs get all of them.
    private static func show(_ record: RecordReport) throws {
        guard Output.isTerminal else { return try Output.bytes(record.value) }
        guard let text = record.text else {
            return Output.note("(\(record.bytes) bytes that are no text: --output PATH writes them into a file)")
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) { try Output.line(String(line)) }
    }
}

/// Deletes a value.
struct Delete: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete what this device has stored under a key; the values of others stay."
    )

    @Argument(help: "The key.")
    var key: String
    @OptionGroup var table: TableOptions
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func request() throws -> APIRequest<DeleteReport> {
        let key = try table.key(key)
        return Operations.delete(key.network, KeyForm(key))
    }
}
