// The functions of runar.h, which documents them; the compiler checks each against its prototype.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CRunar
internal import Essentials
internal import Logging
internal import RunarNode

@c @implementation
public func runar_abi_version() -> UInt32 { UInt32(RUNAR_ABI_VERSION) }

@c @implementation
public func runar_error_free(_ error: UnsafeMutablePointer<runar_error>?) { unsafe Memory.free(error) }

@c @implementation
public func runar_string_free(_ text: UnsafeMutablePointer<CChar>?) { unsafe Memory.free(text) }

@c @implementation
public func runar_data_result_free(_ result: UnsafeMutablePointer<runar_data_result>?) { unsafe Memory.free(result) }

@c @implementation
public func runar_node_create(
    _ config: UnsafePointer<runar_node_config>?,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<runar_error>?>?
) -> OpaquePointer? {
    unsafe ErrorPlace(error).run {
        guard let config = unsafe config else { throw Arguments.missing("config") }
        var known = unsafe runar_node_config()
        try unsafe Arguments.versioned(config, into: &known, size: config.pointee.size, "config")
        let node = try RunarNode(config: unsafe nodeConfig(known))
        return unsafe OpaquePointer(bitPattern: Handles.nodes.add(NodeHandle(node)))
    } ?? nil
}

private func nodeConfig(_ config: runar_node_config) throws -> RunarNodeConfig {
    let made = RunarNodeConfig(
        nodeId: try unsafe Arguments.optionalText(config.node_id, "node_id") ?? "runar-node",
        defaultNetworkId: try unsafe Arguments.optionalText(config.default_network_id, "default_network_id") ?? ""
    )
    made.homePath = try unsafe Arguments.optionalText(config.home, "home")
    guard unsafe config.in_memory != (made.homePath != nil) else {
        throw Arguments.refused("the place of the keys of this device is missing: set either home or in_memory", "home")
    }
    if unsafe config.in_memory { made.keyStorage = InMemoryKeyStorage() }
    made.homeSecret = try unsafe homeSecret(config)
    if let list = try unsafe Arguments.optionalText(config.listen_addresses, "listen_addresses") {
        made.listenAddresses = try parts(of: list).map { try SocketAddress(parsing: $0) }
    }
    if let list = try unsafe Arguments.optionalText(config.network_ids, "network_ids") {
        made.networkIds = parts(of: list)
    }
    if unsafe config.request_timeout_ms > 0 { made.requestTimeoutMs = unsafe config.request_timeout_ms }
    if unsafe config.log_level != 0 {
        guard let level = unsafe RunarLogLevel(rawValue: Int(config.log_level) - 1) else {
            throw Arguments.refused("there is no level \(unsafe config.log_level)", "log_level")
        }
        made.logLevel = level
    }
    if unsafe config.disable_discovery { made.discoveryGroups = nil }
    if unsafe config.max_peers > 0 {
        let network = RunarNetworkConfig()
        network.maxPeers = Int(unsafe config.max_peers)
        network.enableDiscovery = unsafe !config.disable_discovery
        made.networkConfig = network
    }
    return made
}

/// Returns the secret of the vault in a home, if the program gives one.
private func homeSecret(_ config: runar_node_config) throws -> VaultSecret? {
    let keyFile = try unsafe Arguments.optionalText(config.key_file, "key_file")
    let ask = unsafe config.passphrase
    guard unsafe keyFile != nil || ask != nil else { return nil }
    guard unsafe !config.in_memory else {
        throw Arguments.refused("key_file and passphrase open the vault in home: set home", "in_memory")
    }
    guard let ask = unsafe ask else { return keyFile.map { .keyFile(path: $0) } }
    guard keyFile == nil else { throw Arguments.refused("set either key_file or passphrase", "passphrase") }
    var count = 0
    let room = unsafe SecretBytes(count: passphraseByteLimit) { buffer in
        let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        count = unsafe ask(config.passphrase_context, start, buffer.count)
    }
    guard (1...passphraseByteLimit).contains(count) else {
        throw RunarError.failure(.keyDenied, message: "the program gave no passphrase for the vault")
    }
    return unsafe .passphrase(room.withUnsafeBytes { unsafe SecretBytes(copying: $0.prefix(count)) })
}

/// The longest passphrase of a vault.
private let passphraseByteLimit = 1024

private func parts(of list: String) -> [String] {
    list.split { $0 == "," || $0 == " " }.map(String.init)
}

@c @implementation
public func runar_node_free(_ node: OpaquePointer?) {
    Handles.nodes.remove(UInt(bitPattern: node))?.free()
}

@c @implementation
public func runar_node_start(_ node: OpaquePointer?, _ callback: runar_callback?, _ context: UnsafeMutableRawPointer?) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let handle = try unsafe found(node)
        return { node in
            // Before peers can send requests. A device whose keys cannot be used runs without.
            do {
                _ = try handle.keyStores()
            } catch {
                node.logs[.storage].error("one-time keys cannot be used: \(error)")
            }
            try await node.start()
            return node.peerId.base64Encoded
        }
    }
}

@c @implementation
public func runar_node_stop(_ node: OpaquePointer?, _ callback: runar_callback?, _ context: UnsafeMutableRawPointer?) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        { node in
            await node.stop()
            return nil
        }
    }
}

@c @implementation
public func runar_node_peer_id(
    _ node: OpaquePointer?,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<runar_error>?>?
) -> UnsafeMutablePointer<CChar>? {
    unsafe ErrorPlace(error).run { unsafe Memory.text(try found(node).node.peerId.base64Encoded) }
}

@c @implementation
public func runar_node_get_info(
    _ node: OpaquePointer?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        { node in try json(try await node.getNodeInfo()) }
    }
}

@c @implementation
public func runar_node_get_known_peers(
    _ node: OpaquePointer?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        { node in try json(try await node.getKnownPeers()) }
    }
}

/// A value as JSON.
func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .secondsSince1970
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

// MARK: - For all functions

/// The node of a handle.
func found(_ node: OpaquePointer?) throws(RunarError) -> NodeHandle {
    guard let node = unsafe Handles.nodes[node] else { throw Arguments.noHandle("node") }
    return node
}

/// Begins an operation; `finish` gets its result exactly once and never on this thread.
///
/// `prepare` reads the arguments that live only until the function returns. Returns the number under which the
/// operation can be cancelled; 0 when it was refused at once, in which case `finish` gets the error.
@discardableResult
func begin<Success: Sendable>(
    _ handle: OpaquePointer?,
    finish: @escaping @Sendable (Result<Success, RunarError>) -> Void,
    _ prepare: () throws -> @Sendable (RunarNode) async throws -> Success
) -> UInt64 {
    do {
        let node = try unsafe found(handle)
        do {
            if let number = node.begin(try prepare(), finish: finish) { return number }
        } catch {
            let mistake = RunarError(error)
            // Reported like all else of this node, so that nothing is called once it is freed.
            if node.begin({ _ in throw mistake }, finish: finish) != nil { return 0 }
        }
        throw Arguments.noHandle("node")
    } catch {
        let error = RunarError(error)
        // Calls back and ends; without a node, no one waits for its end.
        Task { finish(.failure(error)) }
        return 0
    }
}

/// Begins an operation that has the usual callback.
func begin(
    _ handle: OpaquePointer?,
    _ completion: Completion,
    _ prepare: () throws -> @Sendable (RunarNode) async throws -> String?
) {
    unsafe begin(handle, finish: { completion.call($0) }, prepare)
}
