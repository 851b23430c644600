// The functions of runar.h, which documents them; the compiler checks each against its prototype.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

internal import CRunar
internal import RunarNode

@c @implementation
public func runar_node_handle_memory_warning(_ node: OpaquePointer?) {
    unsafe Handles.nodes[node]?.node.handleMemoryWarning()
}

@c @implementation
public func runar_node_optimize_memory_usage(_ node: OpaquePointer?) {
    unsafe Handles.nodes[node]?.node.optimizeMemoryUsage()
}

@c @implementation
public func runar_node_reduce_operations(_ node: OpaquePointer?) {
    unsafe Handles.nodes[node]?.node.reduceOperations()
}

@c @implementation
public func runar_node_resume_operations(_ node: OpaquePointer?) {
    unsafe Handles.nodes[node]?.node.resumeOperations()
}

@c @implementation
public func runar_node_network_available(_ node: OpaquePointer?) {
    unsafe Handles.nodes[node]?.node.networkAvailable()
}

@c @implementation
public func runar_node_network_unavailable(_ node: OpaquePointer?) {
    unsafe Handles.nodes[node]?.node.networkUnavailable()
}
