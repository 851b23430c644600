internal import Concurrency
public import Failures
internal import Identity
internal import Node
internal import Platform
internal import Transport
internal import Traversal

/// The public address of a node's socket, and hole punching through the NATs before it, on the node's own port.
///
/// A running node does all of this by itself with the help of other members
/// (``RunarNode/connectToPeer(peerId:networkId:overRelay:)``); these calls are for devices that have no member in common,
/// and exchange their addresses by other means.
public struct NATTraversal: Sendable {
    let node: RunarNode

    /// Requests from a STUN server (RFC 8489) the address at which it sees this node.
    ///
    /// - Parameters:
    ///   - localPort: ``RunarNode/listeningPort``, or 0 for the same.
    ///   - stunServer: `host:port`, a host alone for port 3478, or an address as in `[2001:db8::1]:3478`.
    /// - Returns: an address and a port as in `192.0.2.1:4433`; it holds as long as the NAT keeps the mapping.
    /// - Throws: ``NATTraversalError``, ``NodeError/notRunning``; `CancellationError` when cancelled.
    public func getPublicEndpoint(localPort: UInt16, stunServer: String) async throws -> String {
        let driver = try self.driver(onPort: localPort)
        let servers = try await Self.addresses(of: stunServer)
            .filter { server in driver.endpoint.localAddresses.contains { $0.isIPv6 == server.isIPv6 } }
        var failure = STUNFailure.noAnswer
        for server in servers {
            do {
                return try await driver.querySTUN(server).description
            } catch let found as STUNFailure {
                failure = found
            }
        }
        throw NATTraversalError.noAnswer(stunServer, "\(failure)")
    }

    /// Queries the servers of ``RunarNodeConfig/stunServers``, one after the other, for the address at which they see
    /// this node.
    ///
    /// - Throws: ``NATTraversalError`` of the last one, or `noServer`; ``NodeError/notRunning``, `CancellationError`.
    public func getPublicEndpoint() async throws -> String {
        var failure = NATTraversalError.noServer
        for server in node.config.stunServers {
            do {
                return try await getPublicEndpoint(localPort: 0, stunServer: server)
            } catch let error as NATTraversalError {
                failure = error
            }
        }
        throw failure
    }

    /// Sends datagrams to a peer's address, so that the NATs on the path admit its own; both sides do so, and then one of
    /// them dials.
    ///
    /// It returns once a datagram of the peer arrives, and otherwise after a second, since the peer may begin later. At most
    /// ten datagrams of 28 bytes are sent.
    ///
    /// - Parameters:
    ///   - localPort: ``RunarNode/listeningPort``, or 0 for the same.
    ///   - peerAddress: an address and a port as in `192.0.2.1:4433`.
    /// - Throws: ``NATTraversalError``, ``NodeError/notRunning``; `CancellationError` when cancelled.
    public func punchHole(localPort: UInt16, peerAddress: String) async throws {
        let driver = try self.driver(onPort: localPort)
        let address = try SocketAddress(parsing: peerAddress)
        guard address.isDialable else { throw NATTraversalError.badAddress(peerAddress, "no peer can have it") }
        _ = try await driver.punchHole(to: address)
    }

    private func driver(onPort port: UInt16) throws -> NodeDriver {
        let driver = try node.running()
        let own = node.listeningPort
        guard port == 0 || port == own else { throw NATTraversalError.wrongPort(port, own: own) }
        return driver
    }

    private static func addresses(of server: String) async throws -> [SocketAddress] {
        let place = try STUNPlace(server)
        do {
            // The resolver may take its time: on a thread of its own.
            let found = Promise<Result<[SocketAddress], any Error>>()
            let status = SystemThread.start { found.fulfil(Result { try place.addresses() }) }
            guard status == 0 else {
                throw HostNameError(name: place.host, reason: "the system refused a thread (error \(status))")
            }
            return try await found.get()
        } catch let error as HostNameError {
            throw NATTraversalError.badAddress(server, "\(error)")
        }
    }
}

/// Why nothing is known of the way through a NAT.
public enum NATTraversalError: Error, CodedError, Hashable, Sendable, CustomStringConvertible {
    /// The port is not the one that this node listens on.
    case wrongPort(UInt16, own: UInt16)
    /// The text contains no usable address; with the reason.
    case badAddress(String, String)
    /// The server gave no answer; with the reason.
    case noAnswer(String, String)
    /// The configuration names no server.
    case noServer

    /// The failure in words, with the remedy.
    public var description: String {
        switch self {
        case .wrongPort(let port, let own): "this node listens on port \(own), not \(port): give that one, or 0"
        case .badAddress(let text, let why): "\"\(text)\" is no address: \(why)"
        case .noServer: "no STUN server is set: name one in stunServers, as in stun.example.org or 192.0.2.1:3478"
        case .noAnswer(let server, let why): "\(server) did not say where this node is: \(why)"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .noServer: FailureCode("no-stun-server", .unknown, .usage)
        case .noAnswer: FailureCode("no-answer", .unknown, .unavailable)
        case .wrongPort, .badAddress: FailureCode("bad-address", .unknown, .usage)
        }
    }
}
