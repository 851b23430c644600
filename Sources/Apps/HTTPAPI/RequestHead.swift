package import Identity

/// The head of a request, for the rules of a server.
package struct RequestHead: Sendable {
    /// The method in upper case, such as `GET`.
    package let method: String
    /// The path as it was sent, without the query.
    package let path: String
    /// The template of the route at this path, of any method; nil if no route has the path.
    package let template: String?
    /// The `Host` field.
    package let host: String?
    /// The header fields, without `Host`.
    package let fields: HeaderFields
    /// The server's end of the connection; nil at a Unix socket.
    package let localAddress: SocketAddress?
    /// The client's end of the connection; nil at a Unix socket.
    package let remoteAddress: SocketAddress?
}
