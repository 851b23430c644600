// The functions of runar.h, which documents them; the compiler checks each against its prototype.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CRunar
internal import Essentials
internal import RunarNode

@c @implementation
public func runar_service_create(
    _ name: UnsafePointer<CChar>?,
    _ path: UnsafePointer<CChar>?,
    _ version: UnsafePointer<CChar>?,
    _ description: UnsafePointer<CChar>?,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<runar_error>?>?
) -> OpaquePointer? {
    unsafe ErrorPlace(error).run {
        let service = RunarService(
            name: try unsafe Arguments.text(name, "name"),
            path: try unsafe Arguments.text(path, "path"),
            version: try unsafe Arguments.text(version, "version"),
            description: try unsafe Arguments.text(description, "description")
        )
        return unsafe OpaquePointer(bitPattern: Handles.services.add(ServiceHandle(service)))
    } ?? nil
}

@c @implementation
public func runar_service_free(_ service: OpaquePointer?) {
    Handles.services.remove(UInt(bitPattern: service))
}

@c @implementation
public func runar_service_set_network(
    _ service: OpaquePointer?,
    _ network: UnsafePointer<CChar>?,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<runar_error>?>?
) -> Bool {
    unsafe ErrorPlace(error).run {
        try unsafe found(service: service).service.networkId = unsafe Arguments.optionalText(network, "network")
        return true
    } ?? false
}

@c @implementation
public func runar_service_register_action(
    _ service: OpaquePointer?,
    _ action: UnsafePointer<CChar>?,
    _ callback: runar_action_callback?,
    _ context: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<runar_error>?>?
) -> Bool {
    unsafe ErrorPlace(error).run {
        let service = try unsafe found(service: service)
        guard let callback = unsafe callback else { throw Arguments.missing("callback") }
        service.registerAction(
            try unsafe Arguments.text(action, "action"),
            unsafe ActionTarget(function: callback, context: context)
        )
        return true
    } ?? false
}

@c @implementation
public func runar_service_register_event(
    _ service: OpaquePointer?,
    _ topic: UnsafePointer<CChar>?,
    _ callback: runar_event_callback?,
    _ context: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<runar_error>?>?
) -> Bool {
    unsafe ErrorPlace(error).run {
        let service = try unsafe found(service: service)
        guard let callback = unsafe callback else { throw Arguments.missing("callback") }
        service.registerEvent(
            try unsafe Arguments.text(topic, "topic"),
            unsafe EventTarget(function: callback, context: context)
        )
        return true
    } ?? false
}

@c @implementation
public func runar_node_add_service(
    _ node: OpaquePointer?,
    _ service: OpaquePointer?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    let handle = unsafe node
    unsafe begin(node, Completion(function: callback, context: context)) {
        let service = try unsafe found(service: service)
        try service.join(unsafe found(handle))
        return { node in
            defer { service.endJoin() }
            try await node.addService(service.service)
            return service.service.path
        }
    }
}

@c @implementation
public func runar_node_remove_service(
    _ node: OpaquePointer?,
    _ path: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let path = try unsafe Arguments.text(path, "path")
        return { node in
            try await node.removeService(path)
            return path
        }
    }
}

@c @implementation
public func runar_request_respond(
    _ request: OpaquePointer?,
    _ data: UnsafePointer<UInt8>?,
    _ length: Int,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<runar_error>?>?
) -> Bool {
    unsafe ErrorPlace(error).run {
        let answer = try unsafe Arguments.data(data, length, "data")
        guard unsafe Handles.requests[request]?.end(.success(answer)) == true else {
            throw Arguments.noHandle("request")
        }
        return true
    } ?? false
}

@c @implementation
public func runar_request_fail(
    _ request: OpaquePointer?,
    _ code: Int32,
    _ message: UnsafePointer<CChar>?,
    _ context: UnsafePointer<CChar>?,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<runar_error>?>?
) -> Bool {
    unsafe ErrorPlace(error).run {
        let failure = RunarError.failure(
            RunarErrorCode(rawValue: code),
            message: try unsafe Arguments.text(message, "message"),
            context: try unsafe Arguments.optionalText(context, "context") ?? ""
        )
        guard unsafe Handles.requests[request]?.end(.failure(failure)) == true else {
            throw Arguments.noHandle("request")
        }
        return true
    } ?? false
}

@c @implementation
public func runar_request_is_cancelled(_ request: OpaquePointer?) -> Bool {
    unsafe Handles.requests[request] == nil
}

/// The service of a handle.
private func found(service: OpaquePointer?) throws(RunarError) -> ServiceHandle {
    guard let service = unsafe Handles.services[service] else { throw Arguments.noHandle("service") }
    return service
}
