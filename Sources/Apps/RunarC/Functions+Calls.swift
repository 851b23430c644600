// The functions of runar.h, which documents them; the compiler checks each against its prototype.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CRunar
internal import Essentials
internal import RunarNode

@c @implementation
public func runar_node_request_raw(
    _ node: OpaquePointer?,
    _ path: UnsafePointer<CChar>?,
    _ payload: UnsafePointer<UInt8>?,
    _ length: Int,
    _ options: UnsafePointer<runar_request_options>?,
    _ callback: runar_data_callback?,
    _ context: UnsafeMutableRawPointer?
) -> UInt64 {
    let completion = unsafe DataCompletion(function: callback, context: context)
    return unsafe begin(node, finish: { completion.call($0) }) {
        let path = try unsafe Arguments.text(path, "path")
        let payload = try unsafe Arguments.data(payload, length, "payload")
        let (options, encoding) = try unsafe requestOptions(options)
        return { node in try await node.requestRaw(path, payload: payload, encoding: encoding, options: options) }
    }
}

private func requestOptions(
    _ pointer: UnsafePointer<runar_request_options>?
) throws(RunarError) -> (RequestOptions, PayloadEncoding?) {
    var options = RequestOptions()
    guard let pointer = unsafe pointer else { return (options, .json) }
    var known = unsafe runar_request_options()
    try unsafe Arguments.versioned(pointer, into: &known, size: pointer.pointee.size, "options")
    if unsafe known.timeout_ms > 0 { options.timeout = .milliseconds(Int64(clamping: unsafe known.timeout_ms)) }
    options.isIdempotent = unsafe known.is_idempotent
    if let peer = try unsafe Arguments.optionalText(known.peer_id, "peer_id") {
        options.peer = try Arguments.peerId(peer)
    }
    let encoding = try Arguments.encoding(unsafe known.encoding)
    if let encoding { options.encoding = encoding }
    return (options, encoding)
}

@c @implementation
public func runar_node_cancel_request(_ node: OpaquePointer?, _ request: UInt64) -> Bool {
    unsafe Handles.nodes[node]?.cancel(request) ?? false
}

@c @implementation
public func runar_node_publish(
    _ node: OpaquePointer?,
    _ topic: UnsafePointer<CChar>?,
    _ data: UnsafePointer<UInt8>?,
    _ length: Int,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let topic = try unsafe Arguments.text(topic, "topic")
        let data = try unsafe Arguments.data(data, length, "data")
        return { node in
            try await node.publishRaw(topic, data: data)
            return nil
        }
    }
}

@c @implementation
public func runar_node_subscribe(
    _ node: OpaquePointer?,
    _ topic: UnsafePointer<CChar>?,
    _ includesPast: Bool,
    _ callback: runar_event_callback?,
    _ context: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<runar_error>?>?
) -> UnsafeMutablePointer<CChar>? {
    unsafe ErrorPlace(error).run {
        let node = try unsafe found(node)
        guard let callback = unsafe callback else { throw Arguments.missing("callback") }
        let target = unsafe EventTarget(function: callback, context: context)
        let topic = try unsafe Arguments.text(topic, "topic")
        return unsafe Memory.text(try node.subscribe(topic, includesPast: includesPast, target))
    }
}

@c @implementation
public func runar_node_unsubscribe(_ node: OpaquePointer?, _ subscription: UnsafePointer<CChar>?) -> Bool {
    guard let node = unsafe Handles.nodes[node], let subscription = unsafe subscription,
        let id = unsafe String(validatingCString: subscription)
    else { return false }
    return node.unsubscribe(id)
}
