// The functions of runar_sealed.h, which documents them; the compiler checks each against its prototype.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CRunar
internal import CommandModel
internal import Essentials
internal import NanoTDF
internal import NodeModel
internal import RunarNode
internal import SealedMessages

// MARK: - Files

@c @implementation
public func runar_nanotdf_seal(
    _ recipient: UnsafePointer<CChar>?,
    _ data: UnsafePointer<UInt8>?,
    _ length: Int,
    _ options: UnsafePointer<runar_seal_options>?
) -> UnsafeMutablePointer<runar_data_result>? {
    unsafe dataResult {
        let recipient = try NanoTDFPublicKey(pemRepresentation: unsafe Arguments.text(recipient, "recipient_key"))
        let plaintext = try unsafe Arguments.data(data, length, "data")
        var known = unsafe runar_seal_options()
        if let options = unsafe options {
            try unsafe Arguments.versioned(options, into: &known, size: options.pointee.size, "options")
        }
        let signing = try unsafe Arguments.optionalText(known.signing_key, "signing_key")
        let sealer = try NanoTDFSealer(
            to: recipient,
            keyAccess: .recipient(identifier: recipient.identifier),
            policy: .plain(NanoTDFSealer.Policy.unrestrictedContent()),
            cipher: cipher(tagBits: unsafe known.tag_bits),
            binding: unsafe known.hash_binding ? .hash : .ecdsa,
            creator: signing.map { try NanoTDFPrivateKey(pemRepresentation: $0) }
        )
        return Data(try NanoTDFStreamSealer(sealer).seal(whole: Array(plaintext)))
    }
}

private func cipher(tagBits: UInt32) throws(RunarError) -> SymmetricCipher {
    if tagBits == 0 { return .aes256GCM128 }
    guard let cipher = SymmetricCipher.allCases.first(where: { $0.tagByteCount * 8 == Int(tagBits) }) else {
        throw Arguments.refused("a tag has 64, 96, 104, 112, 120 or 128 bits, not \(tagBits)", "tag_bits")
    }
    return cipher
}

@c @implementation
public func runar_nanotdf_open(
    _ key: UnsafePointer<CChar>?,
    _ creator: UnsafePointer<CChar>?,
    _ data: UnsafePointer<UInt8>?,
    _ length: Int
) -> UnsafeMutablePointer<runar_data_result>? {
    unsafe dataResult {
        let key = try NanoTDFPrivateKey(pemRepresentation: unsafe Arguments.text(key, "private_key"))
        let creator = try unsafe Arguments.optionalText(creator, "creator_key").map {
            try NanoTDFPublicKey(pemRepresentation: $0)
        }
        let file = try unsafe Arguments.data(data, length, "data")
        let (plaintext, first) = try NanoTDFStreamOpener.open(whole: Array(file), with: key)
        guard creator == nil || first.creator == creator else {
            throw RunarError.failure(
                .notAuthentic,
                message: first.creator == nil ? "the file has no signature" : "another key signed the file",
                context: "creator_key"
            )
        }
        return Data(plaintext)
    }
}

/// The result of `body`, or its error, for a caller that frees it.
private func dataResult(_ body: () throws -> Data) -> UnsafeMutablePointer<runar_data_result>? {
    do {
        return try unsafe Memory.result(body())
    } catch {
        return unsafe Memory.result(RunarError(error))
    }
}

// MARK: - One-time keys

/// A body for ``begin(_:finish:_:)`` that uses the one-time keys of a node.
private func withKeys<Success: Sendable>(
    of node: OpaquePointer?,
    _ body: @escaping @Sendable (KeyStoreManager) async throws -> Success
) throws(RunarError) -> @Sendable (RunarNode) async throws -> Success {
    let handle = try unsafe found(node)
    return { _ in try await body(handle.keyStores()) }
}

@c @implementation
public func runar_node_exchange_keys(
    _ node: OpaquePointer?,
    _ peer: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let peer = try Arguments.peerId(unsafe Arguments.text(peer, "peer_id"))
        return try unsafe withKeys(of: node) {
            JSONText.encode(KeyRelationshipReport(try await $0.exchangeKeys(with: peer)))
        }
    }
}

@c @implementation
public func runar_node_get_key_relationships(
    _ node: OpaquePointer?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        try unsafe withKeys(of: node) { JSONText.encode($0.relationships.map { KeyRelationshipReport($0) }) }
    }
}

@c @implementation
public func runar_node_verify_keys(
    _ node: OpaquePointer?,
    _ peer: UnsafePointer<CChar>?,
    _ number: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let peer = try Arguments.peerId(unsafe Arguments.text(peer, "peer_id"))
        guard let number = SafetyNumber(try unsafe Arguments.text(number, "safety_number")) else {
            throw Arguments.refused("a safety number has 60 digits", "safety_number")
        }
        return try unsafe withKeys(of: node) { keys in
            try await keys.verify(number, with: peer)
            return nil
        }
    }
}

@c @implementation
public func runar_node_remove_keys(
    _ node: OpaquePointer?,
    _ peer: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let peer = try Arguments.peerId(unsafe Arguments.text(peer, "peer_id"))
        return try unsafe withKeys(of: node) { keys in
            try await keys.removeKeys(of: peer)
            return nil
        }
    }
}

@c @implementation
public func runar_node_seal(
    _ node: OpaquePointer?,
    _ peer: UnsafePointer<CChar>?,
    _ data: UnsafePointer<UInt8>?,
    _ length: Int,
    _ callback: runar_data_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe transform(node, peer, data, length, callback, context) { keys, peer, plaintext in
        try await keys.seal(plaintext, to: peer).bytes
    }
}

@c @implementation
public func runar_node_open(
    _ node: OpaquePointer?,
    _ peer: UnsafePointer<CChar>?,
    _ data: UnsafePointer<UInt8>?,
    _ length: Int,
    _ callback: runar_data_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe transform(node, peer, data, length, callback, context) { keys, peer, message in
        try await keys.open(SealedMessage(message), from: peer)
    }
}

/// Begins to seal or open `data`, and passes the result to the callback.
private func transform(
    _ node: OpaquePointer?,
    _ peer: UnsafePointer<CChar>?,
    _ data: UnsafePointer<UInt8>?,
    _ length: Int,
    _ callback: runar_data_callback?,
    _ context: UnsafeMutableRawPointer?,
    _ body: @escaping @Sendable (KeyStoreManager, PeerId, [UInt8]) async throws -> [UInt8]
) {
    // Without a callback the message would be lost, and its key with it.
    guard unsafe callback != nil else { return }
    let completion = unsafe DataCompletion(function: callback, context: context)
    unsafe begin(node, finish: { completion.call($0) }) {
        let peer = try Arguments.peerId(unsafe Arguments.text(peer, "peer_id"))
        let bytes = Array(try unsafe Arguments.data(data, length, "data"))
        return try unsafe withKeys(of: node) { Data(try await body($0, peer, bytes)) }
    }
}
