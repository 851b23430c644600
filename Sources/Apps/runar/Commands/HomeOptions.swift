internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import NodeModel
internal import NodeService
internal import Platform

/// The options that name the home and open its keys.
struct HomeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The home directory (RUNAR_HOME).", valueName: "directory"), completion: .directory)
    var home: String?

    @Option(
        help: ArgumentHelp("A file whose first line is the passphrase; - is standard input.", valueName: "file"),
        completion: .file()
    )
    var passphraseFile: String?

    @Option(
        help: ArgumentHelp("The key file that opens the vault, if not the one in the home.", valueName: "file"),
        completion: .file()
    )
    var keyFile: String?

    @Flag(help: OutputOptions.jsonHelp)
    var json = false

    /// The options of every command, which are no group within this one for the sake of debug builds; see ``NodeOptions``.
    var output: OutputOptions {
        var output = OutputOptions()
        output.json = json
        return output
    }

    /// The absolute path of the home.
    ///
    /// - Throws: ``DataDirectoryError``.
    func place() throws -> String {
        guard let home else { return try DataDirectory.place() }
        // As for a variable that is not set: an empty path never means the current directory.
        guard !home.isEmpty else { throw CommandFailure("no-home", .usage, "--home is empty: name a directory") }
        return Self.absolute(home)
    }

    /// The settings that these options make.
    var flags: [Setting: [String]] {
        var flags: [Setting: [String]] = [:]
        flags[.passphraseFile] = passphraseFile.map { [$0 == "-" ? $0 : Self.absolute($0)] }
        flags[.keyFile] = keyFile.map { [Self.absolute($0)] }
        return flags
    }

    /// A path that another process understands too.
    static func absolute(_ path: String) -> String {
        URL(fileURLWithPath: path).standardizedFileURL.path
    }

    /// The absolute path of a directory that `--data` names.
    ///
    /// - Throws: ``CommandFailure`` if it is empty.
    static func data(_ path: String) throws(CommandFailure) -> String {
        guard !path.isEmpty else {
            throw CommandFailure("no-data-directory", .usage, "--data is empty: name a directory")
        }
        return absolute(path)
    }
}

/// The options of a node, for the commands that may start one.
///
/// The options of discovery are not a group within this one: with each level of groups a debug build of ArgumentParser
/// validates the options four times as often, at each start of a command.
struct NodeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("An address to listen on; may be given several times (RUNAR_LISTEN).", valueName: "ip:port")
    )
    var listen: [String] = []

    @Option(
        help: ArgumentHelp(
            "trace, debug, info, notice, warning, error or critical; also notice,discovery=debug (RUNAR_LOG_LEVEL).",
            valueName: "level"
        )
    )
    var logLevel: String?

    @Option(
        help: ArgumentHelp("How long to wait for a peer, as in 15s (RUNAR_REQUEST_TIMEOUT).", valueName: "duration")
    )
    var requestTimeout: String?

    @Option(help: ArgumentHelp("The largest message, as in 1MiB (RUNAR_MESSAGE_LIMIT).", valueName: "size"))
    var messageLimit: String?

    @Option(help: ArgumentHelp("Messages that wait for a slow listener (RUNAR_LISTENER_CAPACITY).", valueName: "count"))
    var listenerCapacity: String?

    @Option(
        help: ArgumentHelp(
            "Take offered files into this directory without a question (RUNAR_ACCEPT_FILES).",
            valueName: "directory"
        ),
        completion: .directory
    )
    var acceptFiles: String?

    @Option(
        help: ArgumentHelp(
            "Whether to find members on the local network: on or off (RUNAR_DISCOVERY).",
            valueName: "on|off"
        )
    )
    var discovery: String?

    @Option(
        help: ArgumentHelp(
            "Where members look for each other: standard, mobile, or a multicast group (RUNAR_DISCOVERY_GROUP).",
            valueName: "ip:port"
        )
    )
    var discoveryGroup: [String] = []

    @Option(
        help: ArgumentHelp("The time between two beacons, as in 10s (RUNAR_DISCOVERY_INTERVAL).", valueName: "duration")
    )
    var discoveryInterval: String?

    @Option(
        help: ArgumentHelp(
            "A server that tells this device's public address; up to four may be given (RUNAR_STUN_SERVERS).",
            valueName: "host:port"
        )
    )
    var stunServers: [String] = []

    @Option(
        help: ArgumentHelp(
            "Whether to take part in hash tables, to find and to hold: on or off (RUNAR_HASH_TABLE).",
            valueName: "on|off"
        )
    )
    var hashTable: String?

    @Option(
        help: ArgumentHelp(
            "How long to try a request to the hash table, as in 10s (RUNAR_DHT_TIMEOUT).",
            valueName: "duration"
        )
    )
    var dhtTimeout: String?

    @Option(
        help: ArgumentHelp(
            "How long a value that was read or written answers `get`, as in 5m; 0s: not at all (RUNAR_CACHE_AGE).",
            valueName: "duration"
        )
    )
    var cacheAge: String?

    @Option(
        help: ArgumentHelp(
            "Whether to ask for a new token before this device's ends: on or off (RUNAR_RENEW_TOKENS).",
            valueName: "on|off"
        )
    )
    var renewTokens: String?

    @Option(
        help: ArgumentHelp(
            "Whether the owner's device gives members new tokens when they ask: on or off (RUNAR_GRANT_RENEWALS).",
            valueName: "on|off"
        )
    )
    var grantRenewals: String?

    @Option(
        help: ArgumentHelp(
            "Where browsers of this machine find the console: a port, 0 for a free one, or off (RUNAR_CONSOLE).",
            valueName: "port"
        )
    )
    var console: String?

    @Option(
        help: ArgumentHelp(
            "Where devices of the local network find the console, over TLS: a port, or off (RUNAR_CONSOLE_LAN).",
            valueName: "port"
        )
    )
    var consoleLan: String?

    @Option(help: ArgumentHelp("The identity server of your account (RUNAR_IDENTITY_SERVER).", valueName: "url"))
    var identityServer: String?

    @Option(
        help: ArgumentHelp(
            "The host that resolves handles, if not the identity server (RUNAR_HANDLE_CHECK).",
            valueName: "url"
        )
    )
    var handleCheck: String?

    @Option(help: ArgumentHelp("The operator's service for messages (RUNAR_WEB_SOCKET_SERVICE).", valueName: "url"))
    var webSocketService: String?

    @Option(help: ArgumentHelp("The operator's node of the registry (RUNAR_ARKAVO_NODE).", valueName: "url"))
    var arkavoNode: String?

    @Option(
        help: ArgumentHelp(
            "A key of which the identity server must have one; up to four may be given (RUNAR_IDENTITY_PINS).",
            valueName: "pin"
        )
    )
    var identityPins: [String] = []

    /// The settings that these options make.
    var flags: [Setting: [String]] {
        var flags: [Setting: [String]] = [:]
        if !listen.isEmpty { flags[.listen] = listen }
        flags[.discovery] = discovery.map { [$0] }
        if !discoveryGroup.isEmpty { flags[.discoveryGroup] = discoveryGroup }
        flags[.discoveryInterval] = discoveryInterval.map { [$0] }
        flags[.logLevel] = logLevel.map { [$0] }
        flags[.requestTimeout] = requestTimeout.map { [$0] }
        flags[.messageLimit] = messageLimit.map { [$0] }
        flags[.listenerCapacity] = listenerCapacity.map { [$0] }
        flags[.acceptFiles] = acceptFiles.map { [HomeOptions.absolute($0)] }
        if !stunServers.isEmpty { flags[.stunServers] = stunServers }
        flags[.hashTable] = hashTable.map { [$0] }
        flags[.dhtTimeout] = dhtTimeout.map { [$0] }
        flags[.cacheAge] = cacheAge.map { [$0] }
        flags[.renewTokens] = renewTokens.map { [$0] }
        flags[.grantRenewals] = grantRenewals.map { [$0] }
        flags[.console] = console.map { [$0] }
        flags[.consoleLan] = consoleLan.map { [$0] }
        flags[.identityServer] = identityServer.map { [$0] }
        flags[.handleCheck] = handleCheck.map { [$0] }
        flags[.webSocketService] = webSocketService.map { [$0] }
        flags[.arkavoNode] = arkavoNode.map { [$0] }
        if !identityPins.isEmpty { flags[.identityPins] = identityPins }
        return flags
    }

    /// The settings among the flags that take effect only when a node starts.
    var flagsOfNode: [Setting] { flags.keys.filter { $0 != .acceptFiles } }
}

extension HomeOptions {
    /// The settings in effect for a command with these options.
    func settings(_ node: NodeOptions? = nil) throws -> Settings {
        try Settings(
            flags: flags.merging(node?.flags ?? [:]) { first, _ in first },
            environment: SystemProcess.environment,
            file: try ConfigurationFile.read(in: place())
        )
    }
}
