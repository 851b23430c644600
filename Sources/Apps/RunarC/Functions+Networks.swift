// The functions of runar.h, which documents them; the compiler checks each against its prototype.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CRunar
internal import Essentials
internal import RunarNode

@c @implementation
public func runar_node_create_network(
    _ node: OpaquePointer?,
    _ name: UnsafePointer<CChar>?,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<runar_error>?>?
) -> UnsafeMutablePointer<CChar>? {
    unsafe ErrorPlace(error).run {
        let network = try unsafe found(node).node.createNetwork(name: Arguments.text(name, "name"))
        return unsafe Memory.text(network.networkId.base64Encoded)
    }
}

@c @implementation
public func runar_node_issue_token(
    _ node: OpaquePointer?,
    _ network: UnsafePointer<CChar>?,
    _ peer: UnsafePointer<CChar>?,
    _ expiration: UInt64,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<runar_error>?>?
) -> UnsafeMutablePointer<CChar>? {
    unsafe ErrorPlace(error).run {
        let node = try unsafe found(node).node
        guard expiration <= UInt64(Int64.max) else { throw Arguments.refused("no such time", "expiration") }
        let token = try node.issueToken(
            for: Arguments.peerId(unsafe Arguments.text(peer, "peer_id")),
            in: Arguments.networkId(unsafe Arguments.text(network, "network_id")),
            expiration: expiration == 0 ? nil : Date(timeIntervalSince1970: TimeInterval(expiration))
        )
        return unsafe Memory.text(token.qrString)
    }
}

@c @implementation
public func runar_node_join_network(
    _ node: OpaquePointer?,
    _ token: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let token = try AccessToken.fromQRString(unsafe Arguments.text(token, "token"))
        return { node in
            try await node.joinNetwork(networkId: token.networkId, accessToken: token)
            return token.networkId.base64Encoded
        }
    }
}

@c @implementation
public func runar_node_connect(
    _ node: OpaquePointer?,
    _ peer: UnsafePointer<CChar>?,
    _ network: UnsafePointer<CChar>?,
    _ address: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let peer = try Arguments.peerId(unsafe Arguments.text(peer, "peer_id"))
        let network = try Arguments.networkId(unsafe Arguments.text(network, "network_id"))
        let address = try unsafe Arguments.optionalText(address, "address")
        return { node in
            if let address {
                try await node.connectToPeer(peerId: peer, networkId: network, address: address)
            } else {
                try await node.connectToPeer(peerId: peer, networkId: network)
            }
            return peer.base64Encoded
        }
    }
}

@c @implementation
public func runar_node_listening_port(_ node: OpaquePointer?) -> UInt16 {
    unsafe Handles.nodes[node]?.node.listeningPort ?? 0
}
